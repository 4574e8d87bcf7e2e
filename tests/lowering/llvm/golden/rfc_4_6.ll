source_filename = "rfc_4_6.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64-unknown-unknown"

define spir_kernel void @operators(ptr addrspace(1) noundef align 4 %A) #0 !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 !kernel_arg_type !2 !kernel_arg_base_type !2 !kernel_arg_type_qual !3 {
entry:
  %a = alloca target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), align 4
  %c = alloca target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), align 4
  ; rfc_4_6.cl:5
  %matrix = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_4x8_u0(ptr addrspace(1) %A, i32 0, i64 8)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix, ptr %a, align 4
  ; rfc_4_6.cl:6
  %load = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %a, align 4
  %matrix1 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixScalarMul_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load, float 4.000000e+00)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix1, ptr %c, align 4
  ; rfc_4_6.cl:7
  %load1 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %matrix2 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixScalarNeg_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load1)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix2, ptr %c, align 4
  ; rfc_4_6.cl:8
  %load2 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %load3 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %matrix3 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryAdd_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load2, target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load3)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix3, ptr %c, align 4
  ; rfc_4_6.cl:9
  %load4 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %load5 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %a, align 4
  %matrix4 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinarySub_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load4, target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load5)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix4, ptr %c, align 4
  ; rfc_4_6.cl:10
  %load6 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %load7 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %a, align 4
  %matrix5 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryMul_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load6, target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load7)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix5, ptr %c, align 4
  ; rfc_4_6.cl:11
  %load8 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  %load9 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %a, align 4
  %matrix6 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryDiv_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load8, target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load9)
  store target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %matrix6, ptr %c, align 4
  ; rfc_4_6.cl:12
  %load10 = load target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), ptr %c, align 4
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1f.f32_sc3_4x8_u0(ptr addrspace(1) %A, target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) %load10, i32 0, i64 8)
  ; rfc_4_6.cl:2
  ret void
}

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_4x8_u0(ptr addrspace(1), i32, i64) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixScalarMul_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), float) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixScalarNeg_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0)) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryAdd_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0)) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinarySub_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0)) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryMul_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0)) #0
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0) @_Z34__spirv_CooperativeMatrixBinaryDiv_f32_sc3_4x8_u0(target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0)) #0
declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1f.f32_sc3_4x8_u0(ptr addrspace(1), target("spirv.CooperativeMatrixKHR", float, 3, 4, 8, 0), i32, i64) #0

attributes #0 = { convergent nounwind }
attributes #1 = { nounwind }

!opencl.ocl.version = !{!4}
!opencl.enable.FP_CONTRACT = !{}
!0 = !{i32 1}
!1 = !{!"none"}
!2 = !{!"float*"}
!3 = !{!""}
!4 = !{i32 3, i32 0}
