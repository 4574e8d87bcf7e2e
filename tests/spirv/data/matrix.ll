; One cooperative matrix multiplication with an element type of its own for each of the two kernels.
target triple = "spirv64-unknown-unknown"

define spir_kernel void @multiply(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {
entry:
  %ma = call spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhim(ptr addrspace(1) %a, i32 0, i64 16)
  %mb = call spir_func target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhimi(ptr addrspace(1) %b, i32 0, i64 16)
  %mc = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %ma, target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) %mb, target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) zeroinitializer, i32 0)
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fim(ptr addrspace(1) %c, target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %mc, i32 0, i64 16)
  ret void
}

define spir_kernel void @prefetch_bfloat(ptr addrspace(1) %a, ptr addrspace(1) %c) !intel_reqd_sub_group_size !0 {
entry:
  call spir_func void @_Z38__spirv_CooperativeMatrixPrefetchINTELPU3AS1tiiiim(ptr addrspace(1) %a, i32 8, i32 16, i32 0, i32 0, i64 16)
  %ma = call spir_func target("spirv.CooperativeMatrixKHR", bfloat, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1tim(ptr addrspace(1) %a, i32 0, i64 16)
  %n = call spir_func i32 @_Z34__spirv_CooperativeMatrixLengthKHR(target("spirv.CooperativeMatrixKHR", bfloat, 3, 8, 16, 0) %ma)
  store i32 %n, ptr addrspace(1) %c
  ret void
}

declare spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhim(ptr addrspace(1), i32, i64)
declare spir_func target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhimi(ptr addrspace(1), i32, i64)
declare spir_func target("spirv.CooperativeMatrixKHR", bfloat, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1tim(ptr addrspace(1), i32, i64)
declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @_Z34__spirv_CooperativeMatrixMulAddKHR(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1), target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), i32)
declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fim(ptr addrspace(1), target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), i32, i64)
declare spir_func void @_Z38__spirv_CooperativeMatrixPrefetchINTELPU3AS1tiiiim(ptr addrspace(1), i32, i32, i32, i32, i64)
declare spir_func i32 @_Z34__spirv_CooperativeMatrixLengthKHR(target("spirv.CooperativeMatrixKHR", bfloat, 3, 8, 16, 0))

!0 = !{i32 16}
