declare <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x float>)
declare void @llvm.masked.scatter.v16f32.v16p0(<16 x float>, <16 x ptr>, i32, <16 x i1>)
declare i64 @llvm.umin.i64(i64, i64)

define internal void @sub_group(ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber) #0 {
entry:
  %at12 = getelementptr i64, ptr %launch, i64 3
  %field13 = load i64, ptr %at12, align 8, !invariant.load !0
  %at14 = getelementptr i64, ptr %launch, i64 4
  %field15 = load i64, ptr %at14, align 8, !invariant.load !0
  %at20 = getelementptr i64, ptr %launch, i64 6
  %field21 = load i64, ptr %at20, align 8, !invariant.load !0
  %at25 = getelementptr i64, ptr %launch, i64 7
  %field26 = load i64, ptr %at25, align 8, !invariant.load !0
  %at30 = getelementptr i64, ptr %launch, i64 5
  %field31 = load i64, ptr %at30, align 8, !invariant.load !0
  %at32 = getelementptr i64, ptr %launch, i64 8
  %field33 = load i64, ptr %at32, align 8, !invariant.load !0
  %v77 = mul i64 %field13, %field15
  %v78 = mul i64 %v77, %field31
  %v79 = mul i64 %sg, 16
  %v80 = sub i64 %v78, %v79
  %existing = call i64 @llvm.umin.i64(i64 %v80, i64 16)
  %v81 = insertelement <16 x i64> poison, i64 %existing, i32 0
  %v82 = shufflevector <16 x i64> %v81, <16 x i64> poison, <16 x i32> zeroinitializer
  %exists = icmp ult <16 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>, %v82
  %argument1 = getelementptr i8, ptr %arguments, i64 0
  %pointer2 = load ptr, ptr %argument1, align 8
  %argument3 = getelementptr i8, ptr %arguments, i64 16
  %pointer4 = load ptr, ptr %argument3, align 8
  %argument5 = getelementptr i8, ptr %arguments, i64 32
  %v6 = load float, ptr %argument5, align 8
  %argument7 = getelementptr i8, ptr %arguments, i64 48
  %v8 = load i32, ptr %argument7, align 8
  %slot9 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot9
  %slot10 = alloca <16 x i32>
  store <16 x i32> zeroinitializer, ptr %slot10
  %v11 = mul i64 %sg, 16
  %v16 = udiv i64 %v11, %field13
  %v17 = urem i64 %v11, %field13
  %v18 = urem i64 %v16, %field15
  %v19 = udiv i64 %v16, %field15
  %v22 = mul i64 %gx, %field13
  %v23 = add i64 %v22, %field21
  %v24 = add i64 %v17, %v23
  %v27 = mul i64 %gy, %field15
  %v28 = add i64 %v27, %field26
  %v29 = add i64 %v18, %v28
  %v34 = mul i64 %gz, %field31
  %v35 = add i64 %v34, %field33
  %v36 = add i64 %v19, %v35
  %slot37 = alloca i64
  store i64 0, ptr %slot37
  store i64 %v24, ptr %slot37
  %slot38 = alloca i64
  store i64 0, ptr %slot38
  store i64 %v29, ptr %slot38
  %slot39 = alloca i64
  store i64 0, ptr %slot39
  store i64 %v36, ptr %slot39
  br label %b0
b0:
  store <16 x i32> splat (i32 0), ptr %slot10
  %v40 = load i64, ptr %slot37
  %v41 = load i64, ptr %slot38
  %v42 = load i64, ptr %slot39
  %v43 = trunc i64 %v40 to i32
  %v44 = insertelement <16 x i32> poison, i32 %v43, i32 0
  %v45 = shufflevector <16 x i32> %v44, <16 x i32> poison, <16 x i32> zeroinitializer
  %v46 = add <16 x i32> %v45, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <16 x i32> %v46, ptr %slot10
  %v47 = load <16 x i32>, ptr %slot10
  %v48 = insertelement <16 x i32> poison, i32 %v8, i32 0
  %v49 = shufflevector <16 x i32> %v48, <16 x i32> poison, <16 x i32> zeroinitializer
  %v50 = icmp slt <16 x i32> %v47, %v49
  %v51 = xor <16 x i1> %v50, splat (i1 true)
  %v52 = and <16 x i1> %exists, %v50
  %v53 = load <16 x i1>, ptr %slot9
  %v54 = or <16 x i1> %v53, %v52
  store <16 x i1> %v54, ptr %slot9
  %v55 = and <16 x i1> %exists, %v51
  br label %c1
c1:
  %v56 = load <16 x i1>, ptr %slot9
  %v57 = bitcast <16 x i1> %v56 to i16
  %v58 = icmp ne i16 %v57, 0
  br i1 %v58, label %b1, label %b2
b1:
  store <16 x i1> zeroinitializer, ptr %slot9
  %v59 = load <16 x i32>, ptr %slot10
  %v60 = sext <16 x i32> %v59 to <16 x i64>
  %v61 = mul <16 x i64> %v60, splat (i64 4)
  %v62 = getelementptr i8, ptr %pointer2, <16 x i64> %v61
  %v63 = load <16 x i32>, ptr %slot10
  %v64 = sext <16 x i32> %v63 to <16 x i64>
  %v65 = mul <16 x i64> %v64, splat (i64 4)
  %v66 = getelementptr i8, ptr %pointer4, <16 x i64> %v65
  %v67 = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %v66, i32 4, <16 x i1> %v56, <16 x float> zeroinitializer)
  %v68 = insertelement <16 x float> poison, float %v6, i32 0
  %v69 = shufflevector <16 x float> %v68, <16 x float> poison, <16 x i32> zeroinitializer
  %v70 = fmul <16 x float> %v69, %v67
  %v71 = load <16 x i32>, ptr %slot10
  %v72 = sext <16 x i32> %v71 to <16 x i64>
  %v73 = mul <16 x i64> %v72, splat (i64 4)
  %v74 = getelementptr i8, ptr %pointer2, <16 x i64> %v73
  %v75 = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %v74, i32 4, <16 x i1> %v56, <16 x float> zeroinitializer)
  %v76 = fadd <16 x float> %v70, %v75
  call void @llvm.masked.scatter.v16f32.v16p0(<16 x float> %v76, <16 x ptr> %v62, i32 4, <16 x i1> %v56)
  br label %b2
b2:
  br label %done
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