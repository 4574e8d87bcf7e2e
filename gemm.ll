declare target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.fill.0(float) nounwind willreturn memory(none)
declare void @matrix.store.1(target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), ptr, i64) nounwind willreturn
declare target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.load.2(ptr, i64) nounwind willreturn memory(read)
declare target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.fill.3(half) nounwind willreturn memory(none)
declare target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.load.4(ptr, i64) nounwind willreturn memory(read)
declare target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.fill.5(half) nounwind willreturn memory(none)
declare target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.multiply.6(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1), target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2)) nounwind willreturn memory(none)

define internal void @sub_group(ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber) #0 {
entry:
  %argument1 = getelementptr i8, ptr %arguments, i64 0
  %pointer2 = load ptr, ptr %argument1, align 8
  %argument3 = getelementptr i8, ptr %arguments, i64 16
  %pointer4 = load ptr, ptr %argument3, align 8
  %argument5 = getelementptr i8, ptr %arguments, i64 32
  %pointer6 = load ptr, ptr %argument5, align 8
  %argument7 = getelementptr i8, ptr %arguments, i64 48
  %v8 = load i32, ptr %argument7, align 8
  %argument9 = getelementptr i8, ptr %arguments, i64 64
  %v10 = load i32, ptr %argument9, align 8
  %slot11 = alloca i64
  store i64 0, ptr %slot11
  %slot12 = alloca i64
  store i64 0, ptr %slot12
  %slot13 = alloca i32
  store i32 0, ptr %slot13
  %slot14 = alloca i64
  store i64 0, ptr %slot14
  store i64 %gx, ptr %slot14
  %slot15 = alloca i64
  store i64 0, ptr %slot15
  store i64 %gy, ptr %slot15
  %slot16 = alloca i64
  store i64 0, ptr %slot16
  store i64 %gz, ptr %slot16
  %slot26 = alloca { target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), [1016 x i8] }, align 64
  %v27 = call target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.fill.0(float 0.0)
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v27, ptr %slot26
  %slot55 = alloca { target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), [1016 x i8] }, align 64
  %v56 = call target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.fill.3(half 0.0)
  store target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %v56, ptr %slot55
  %slot68 = alloca { target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1), [1016 x i8] }, align 64
  %v69 = call target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.fill.5(half 0.0)
  store target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) %v69, ptr %slot68
  br label %b0
b0:
  store i64 0, ptr %slot11
  store i64 0, ptr %slot12
  store i32 0, ptr %slot13
  %v17 = load i64, ptr %slot14
  %v18 = load i64, ptr %slot15
  %v19 = load i64, ptr %slot16
  %v20 = mul i64 %v18, 8
  store i64 %v20, ptr %slot11
  %v21 = load i64, ptr %slot14
  %v22 = load i64, ptr %slot15
  %v23 = load i64, ptr %slot16
  %v24 = mul i64 %v21, 16
  store i64 %v24, ptr %slot12
  %v25 = call target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.fill.0(float bitcast (i32 0 to float))
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v25, ptr %slot26
  store i32 0, ptr %slot13
  br label %b1
b1:
  %v28 = load i32, ptr %slot13
  %v29 = icmp slt i32 %v28, %v10
  br i1 %v29, label %edge30, label %edge31
edge30:
  br label %b2
edge31:
  br label %b4
b4:
  %v32 = load i64, ptr %slot11
  %v33 = sext i32 %v8 to i64
  %v34 = mul i64 %v32, %v33
  %v35 = mul i64 %v34, 4
  %v36 = getelementptr i8, ptr %pointer6, i64 %v35
  %v37 = load i64, ptr %slot12
  %v38 = mul i64 %v37, 4
  %v39 = getelementptr i8, ptr %v36, i64 %v38
  %v40 = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), ptr %slot26
  %v41 = sext i32 %v8 to i64
  %v42 = mul i64 %v41, 4
  call void @matrix.store.1(target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v40, ptr %v39, i64 %v42)
  br label %done
b2:
  %v43 = load i64, ptr %slot11
  %v44 = sext i32 %v10 to i64
  %v45 = mul i64 %v43, %v44
  %v46 = mul i64 %v45, 2
  %v47 = getelementptr i8, ptr %pointer2, i64 %v46
  %v48 = load i32, ptr %slot13
  %v49 = sext i32 %v48 to i64
  %v50 = mul i64 %v49, 2
  %v51 = getelementptr i8, ptr %v47, i64 %v50
  %v52 = sext i32 %v10 to i64
  %v53 = mul i64 %v52, 2
  %v54 = call target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.load.2(ptr %v51, i64 %v53)
  store target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %v54, ptr %slot55
  %v57 = load i32, ptr %slot13
  %v58 = mul i32 %v57, %v8
  %v59 = sext i32 %v58 to i64
  %v60 = mul i64 %v59, 2
  %v61 = getelementptr i8, ptr %pointer4, i64 %v60
  %v62 = load i64, ptr %slot12
  %v63 = mul i64 %v62, 2
  %v64 = getelementptr i8, ptr %v61, i64 %v63
  %v65 = sext i32 %v8 to i64
  %v66 = mul i64 %v65, 2
  %v67 = call target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.load.4(ptr %v64, i64 %v66)
  store target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) %v67, ptr %slot68
  %v70 = load target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), ptr %slot55
  %v71 = load target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1), ptr %slot68
  %v72 = load target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), ptr %slot26
  %v73 = call target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.multiply.6(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %v70, target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) %v71, target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v72)
  store target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v73, ptr %slot26
  br label %b3
b3:
  %v74 = load i32, ptr %slot13
  %v75 = add i32 %v74, 16
  store i32 %v75, ptr %slot13
  br label %b1
done:
  ret void
}

define void @run(ptr %launch, ptr %arguments, ptr %scratch) nounwind {
entry:
  %nx.at = getelementptr i64, ptr %launch, i64 9
  %nx = load i64, ptr %nx.at
  %ny.at = getelementptr i64, ptr %launch, i64 10
  %ny = load i64, ptr %ny.at
  %total.at = getelementptr i64, ptr %launch, i64 13
  %total = load i64, ptr %total.at
  %taken.at = getelementptr i64, ptr %launch, i64 14
  %chunk.at = getelementptr i64, ptr %launch, i64 15
  %chunk = load i64, ptr %chunk.at
  %count.at = getelementptr i64, ptr %launch, i64 16
  %count = load i64, ptr %count.at
  %stop.at = getelementptr i64, ptr %launch, i64 18
  br label %take
take:
  %first = atomicrmw add ptr %taken.at, i64 %chunk monotonic
  %stop = load atomic i64, ptr %stop.at monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  %over = icmp uge i64 %first, %total
  %leave = or i1 %over, %stopped
  br i1 %leave, label %done, label %some
some:
  %end.wanted = add i64 %first, %chunk
  %beyond = icmp ugt i64 %end.wanted, %total
  %end = select i1 %beyond, i64 %total, i64 %end.wanted
  br label %group
group:
  %g = phi i64 [ %first, %some ], [ %g.next, %next.group ]
  %gx = urem i64 %g, %nx
  %rest = udiv i64 %g, %nx
  %gy = urem i64 %rest, %ny
  %gz = udiv i64 %rest, %ny

  br label %sub.groups
sub.groups:
  %sg = phi i64 [ 0, %group ], [ %sg.next, %sub.groups ]
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr null)
  %sg.next = add i64 %sg, 1
  %sg.more = icmp ult i64 %sg.next, %count
  br i1 %sg.more, label %sub.groups, label %next.group

next.group:
  %g.next = add i64 %g, 1
  %more = icmp ult i64 %g.next, %end
  br i1 %more, label %group, label %take
done:
  ret void
}

attributes #0 = { nounwind }
!0 = !{}