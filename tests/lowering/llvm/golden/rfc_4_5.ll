source_filename = "rfc_4_5.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64-unknown-unknown"

define spir_kernel void @load(ptr addrspace(1) noundef align 4 %A) #0 !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 !kernel_arg_type !2 !kernel_arg_base_type !2 !kernel_arg_type_qual !3 {
entry:
  %m = alloca target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 0), align 4
  ; rfc_4_5.cl:6
  %matrix = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_8x4_u0(ptr addrspace(1) %A, i32 0, i64 3)
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 0) %matrix, ptr %m, align 4
  ; rfc_4_5.cl:2
  ret void
}

define spir_kernel void @store(ptr addrspace(1) noundef align 2 %A) #0 !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 !kernel_arg_type !4 !kernel_arg_base_type !4 !kernel_arg_type_qual !3 {
entry:
  %m = alloca target("spirv.CooperativeMatrixKHR", half, 3, 2, 4, 0), align 2
  ; rfc_4_5.cl:13
  %load = load target("spirv.CooperativeMatrixKHR", half, 3, 2, 4, 0), ptr %m, align 2
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1Dh.f16_sc3_2x4_u0(ptr addrspace(1) %A, target("spirv.CooperativeMatrixKHR", half, 3, 2, 4, 0) %load, i32 0, i64 3)
  ; rfc_4_5.cl:9
  ret void
}

define spir_kernel void @multiply_add() #0 !kernel_arg_addr_space !5 !kernel_arg_access_qual !5 !kernel_arg_type !5 !kernel_arg_base_type !5 !kernel_arg_type_qual !5 {
entry:
  %a = alloca target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), align 4
  %b = alloca target("spirv.CooperativeMatrixKHR", float, 3, 8, 2, 1), align 4
  %c = alloca target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2), align 4
  %d = alloca target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2), align 4
  ; rfc_4_5.cl:25
  %load = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %a, align 4
  %load1 = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 2, 1), ptr %b, align 4
  %load2 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2), ptr %c, align 4
  %matrix = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR_f32_sc3_4x8_u0_f32_sc3_8x2_u1_f32_sc3_4x2_u2(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load, target("spirv.CooperativeMatrixKHR", float, 3, 8, 2, 1) %load1, target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2) %load2, i32 0)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2) %matrix, ptr %d, align 4
  ; rfc_4_5.cl:17
  ret void
}

define spir_kernel void @multiply_add_integers() #0 !kernel_arg_addr_space !5 !kernel_arg_access_qual !5 !kernel_arg_type !5 !kernel_arg_base_type !5 !kernel_arg_type_qual !5 {
entry:
  %a = alloca target("spirv.CooperativeMatrixKHR", i8, 3, 4, 8, 0), align 1
  %b = alloca target("spirv.CooperativeMatrixKHR", i8, 3, 8, 2, 1), align 1
  %c = alloca target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2), align 4
  %d = alloca target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2), align 4
  ; rfc_4_5.cl:36
  %load = load target("spirv.CooperativeMatrixKHR", i8, 3, 4, 8, 0), ptr %a, align 1
  %load1 = load target("spirv.CooperativeMatrixKHR", i8, 3, 8, 2, 1), ptr %b, align 1
  %load2 = load target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2), ptr %c, align 4
  %matrix = call spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR_s8_sc3_4x8_u0_s8_sc3_8x2_u1_s32_sc3_4x2_u2(target("spirv.CooperativeMatrixKHR", i8, 3, 4, 8, 0) %load, target("spirv.CooperativeMatrixKHR", i8, 3, 8, 2, 1) %load1, target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2) %load2, i32 8)
  store target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2) %matrix, ptr %d, align 4
  ; rfc_4_5.cl:28
  ret void
}

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_8x4_u0(ptr addrspace(1), i32, i64) #0
declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1Dh.f16_sc3_2x4_u0(ptr addrspace(1), target("spirv.CooperativeMatrixKHR", half, 3, 2, 4, 0), i32, i64) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR_f32_sc3_4x8_u0_f32_sc3_8x2_u1_f32_sc3_4x2_u2(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", float, 3, 8, 2, 1), target("spirv.CooperativeMatrixKHR", float, 3, 4, 2, 2), i32) #0
declare spir_func target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR_s8_sc3_4x8_u0_s8_sc3_8x2_u1_s32_sc3_4x2_u2(target("spirv.CooperativeMatrixKHR", i8, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", i8, 3, 8, 2, 1), target("spirv.CooperativeMatrixKHR", i32, 3, 4, 2, 2), i32) #0

attributes #0 = { convergent nounwind }
attributes #1 = { nounwind }

!opencl.ocl.version = !{!6}
!opencl.enable.FP_CONTRACT = !{}
!0 = !{i32 1}
!1 = !{!"none"}
!2 = !{!"float*"}
!3 = !{!""}
!4 = !{!"half*"}
!5 = !{}
!6 = !{i32 3, i32 0}
