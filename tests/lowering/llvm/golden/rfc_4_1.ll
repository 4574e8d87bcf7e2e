source_filename = "rfc_4_1.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64-unknown-unknown"

define spir_kernel void @types() #0 !kernel_arg_addr_space !0 !kernel_arg_access_qual !0 !kernel_arg_type !0 !kernel_arg_base_type !0 !kernel_arg_type_qual !0 {
entry:
  %vmat1 = alloca target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 0), align 4
  %vmat2 = alloca target("spirv.CooperativeMatrixKHR", half, 3, 4, 4, 1), align 2
  ; rfc_4_1.cl:2
  ret void
}

attributes #0 = { convergent nounwind }
attributes #1 = { nounwind }

!opencl.ocl.version = !{!1}
!opencl.enable.FP_CONTRACT = !{}
!0 = !{}
!1 = !{i32 3, i32 0}
