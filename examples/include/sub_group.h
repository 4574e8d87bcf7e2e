// What the matrix examples share: names with numbers in them, and what a device has.
//
// A tile of C has TM rows and TN columns. Each work-item of a sub-group holds one column, so TN is the
// sub-group's size: 16 on PVC, 8 on DG2.

#ifndef SUB_GROUP_H
#define SUB_GROUP_H

#ifndef TN
#if defined(cl_intel_subgroup_matrix_multiply_accumulate) && !defined(cl_intel_subgroup_2d_block_io)
#define TN 8
#else
#define TN 16
#endif
#endif

// Without matrix hardware, or with -DEMULATE, shuffles and multiplications do what the instruction does.
#if !defined(cl_intel_subgroup_matrix_multiply_accumulate) && !defined(EMULATE)
#define EMULATE
#endif

#ifdef cl_intel_required_subgroup_size
#define SUB_GROUP __attribute__((intel_reqd_sub_group_size(TN)))
#else
#define SUB_GROUP
#endif

// ## pastes its operands as they are written; one more macro between expands them first.
#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a##b

// VECTOR(int, 8) is int8, VECTOR(int, 1) is int.
#define VECTOR(type, count) CAT(VECTOR_, count)(type)
#define VECTOR_1(type) type
#define VECTOR_2(type) type##2
#define VECTOR_4(type) type##4
#define VECTOR_8(type) type##8

// KERNEL(packed) is packed_m8_n16, FUNCTION(load_a) is load_a_m8. Functions whose arguments tell TM need no such
// names: they are overloaded, as built-in functions are.
#define KERNEL(name) CAT(CAT(CAT(name, _m), TM), CAT(_n, TN))
#define FUNCTION(name) CAT(CAT(name, _m), TM)

#define OVERLOADED static __attribute__((overloadable))

// On devices whose sub-groups are larger, TN work-items side by side act as one of ours.
static uint lane(void)
{
    return get_sub_group_local_id() % TN;
}

static uint lane_of(uint number)
{
    return get_sub_group_local_id() - lane() + number;
}

#endif
