declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, i32, <16 x i1>)
declare <16 x i64> @llvm.umin.v16i64(<16 x i64>, <16 x i64>)
declare <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x i32>)
declare i64 @llvm.umin.i64(i64, i64)

define internal void @sub_group(ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber) #0 {
entry:
  %at18 = getelementptr i64, ptr %launch, i64 3
  %field19 = load i64, ptr %at18, align 8, !invariant.load !0
  %at20 = getelementptr i64, ptr %launch, i64 4
  %field21 = load i64, ptr %at20, align 8, !invariant.load !0
  %at26 = getelementptr i64, ptr %launch, i64 6
  %field27 = load i64, ptr %at26, align 8, !invariant.load !0
  %at31 = getelementptr i64, ptr %launch, i64 7
  %field32 = load i64, ptr %at31, align 8, !invariant.load !0
  %at36 = getelementptr i64, ptr %launch, i64 5
  %field37 = load i64, ptr %at36, align 8, !invariant.load !0
  %at38 = getelementptr i64, ptr %launch, i64 8
  %field39 = load i64, ptr %at38, align 8, !invariant.load !0
  %v129 = mul i64 %field19, %field21
  %v130 = mul i64 %v129, %field37
  %v131 = mul i64 %sg, 16
  %v132 = sub i64 %v130, %v131
  %existing = call i64 @llvm.umin.i64(i64 %v132, i64 16)
  %v133 = insertelement <16 x i64> poison, i64 %existing, i32 0
  %v134 = shufflevector <16 x i64> %v133, <16 x i64> poison, <16 x i32> zeroinitializer
  %exists = icmp ult <16 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>, %v134
  %argument1 = getelementptr i8, ptr %arguments, i64 0
  %pointer2 = load ptr, ptr %argument1, align 8
  %argument3 = getelementptr i8, ptr %arguments, i64 16
  %v4 = load i32, ptr %argument3, align 8
  %slot5 = alloca [8 x <16 x i32>], align 64
  %slot6 = alloca i32
  store i32 0, ptr %slot6
  %slot7 = alloca <16 x i32>
  store <16 x i32> zeroinitializer, ptr %slot7
  %slot8 = alloca i32
  store i32 0, ptr %slot8
  %v17 = mul i64 %sg, 16
  %v22 = udiv i64 %v17, %field19
  %v23 = urem i64 %v17, %field19
  %v24 = urem i64 %v22, %field21
  %v25 = udiv i64 %v22, %field21
  %v28 = mul i64 %gx, %field19
  %v29 = add i64 %v28, %field27
  %v30 = add i64 %v23, %v29
  %v33 = mul i64 %gy, %field21
  %v34 = add i64 %v33, %field32
  %v35 = add i64 %v24, %v34
  %v40 = mul i64 %gz, %field37
  %v41 = add i64 %v40, %field39
  %v42 = add i64 %v25, %v41
  %slot43 = alloca i64
  store i64 0, ptr %slot43
  store i64 %v30, ptr %slot43
  %slot44 = alloca i64
  store i64 0, ptr %slot44
  store i64 %v35, ptr %slot44
  %slot45 = alloca i64
  store i64 0, ptr %slot45
  store i64 %v42, ptr %slot45
  %slot100 = alloca i32
  store i32 0, ptr %slot100
  %v103 = mul i64 %sg, 16
  %v104 = udiv i64 %v103, %field19
  %v105 = urem i64 %v103, %field19
  %v106 = urem i64 %v104, %field21
  %v107 = udiv i64 %v104, %field21
  %slot108 = alloca i64
  store i64 0, ptr %slot108
  store i64 %v105, ptr %slot108
  %slot109 = alloca i64
  store i64 0, ptr %slot109
  store i64 %v106, ptr %slot109
  %slot110 = alloca i64
  store i64 0, ptr %slot110
  store i64 %v107, ptr %slot110
  br label %b0
b0:
  call void @llvm.memset.p0.i64(ptr %slot5, i8 0, i64 512, i1 false)
  store i32 0, ptr %slot6
  store <16 x i32> splat (i32 0), ptr %slot7
  store i32 0, ptr %slot8
  store i32 0, ptr %slot6
  br label %b1
b1:
  %v9 = load i32, ptr %slot6
  %v10 = icmp slt i32 %v9, 8
  br i1 %v10, label %edge11, label %edge12
edge11:
  br label %b2
edge12:
  br label %b8
b8:
  store <16 x i32> splat (i32 0), ptr %slot7
  store i32 0, ptr %slot8
  br label %b9
b9:
  %v13 = load i32, ptr %slot8
  %v14 = icmp slt i32 %v13, %v4
  br i1 %v14, label %edge15, label %edge16
edge15:
  br label %b10
edge16:
  br label %b12
b12:
  %v46 = load i64, ptr %slot43
  %v47 = load i64, ptr %slot44
  %v48 = load i64, ptr %slot45
  %v49 = mul i64 %v46, 4
  %v50 = getelementptr i8, ptr %pointer2, i64 %v49
  %v51 = load <16 x i32>, ptr %slot7
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v51, ptr %v50, i32 4, <16 x i1> %exists)
  br label %done
b10:
  %v52 = load <16 x i32>, ptr %slot7
  %v53 = load i32, ptr %slot8
  %v54 = mul i32 %v53, 5
  %v55 = sext i32 %v54 to i64
  %v56 = load i64, ptr %slot43
  %v57 = load i64, ptr %slot44
  %v58 = load i64, ptr %slot45
  %v59 = add i64 %v55, %v56
  %v60 = insertelement <16 x i64> poison, i64 %v59, i32 0
  %v61 = shufflevector <16 x i64> %v60, <16 x i64> poison, <16 x i32> zeroinitializer
  %v62 = add <16 x i64> %v61, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %v63 = and <16 x i64> %v62, splat (i64 7)
  %v64 = mul <16 x i64> %v63, splat (i64 1)
  %v65 = add <16 x i64> splat (i64 0), %v64
  %v66 = call <16 x i64> @llvm.umin.v16i64(<16 x i64> %v65, <16 x i64> splat (i64 7))
  %v67 = mul <16 x i64> %v66, splat (i64 16)
  %v68 = add <16 x i64> splat (i64 0), <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %v69 = add <16 x i64> %v67, %v68
  %v70 = mul <16 x i64> %v69, splat (i64 4)
  %v71 = getelementptr i8, ptr %slot5, <16 x i64> %v70
  %v72 = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> %v71, i32 1, <16 x i1> %exists, <16 x i32> zeroinitializer)
  %v73 = load i32, ptr %slot8
  %v74 = add i32 %v73, 1
  %v75 = icmp eq i32 %v74, 0
  %v76 = icmp eq <16 x i32> %v72, splat (i32 -2147483648)
  %v77 = icmp eq i32 %v74, -1
  %v78 = insertelement <16 x i1> poison, i1 %v77, i32 0
  %v79 = shufflevector <16 x i1> %v78, <16 x i1> poison, <16 x i32> zeroinitializer
  %v80 = and <16 x i1> %v76, %v79
  %v81 = insertelement <16 x i1> poison, i1 %v75, i32 0
  %v82 = shufflevector <16 x i1> %v81, <16 x i1> poison, <16 x i32> zeroinitializer
  %v83 = or <16 x i1> %v82, %v80
  %v84 = insertelement <16 x i32> poison, i32 %v74, i32 0
  %v85 = shufflevector <16 x i32> %v84, <16 x i32> poison, <16 x i32> zeroinitializer
  %v86 = select <16 x i1> %v83, <16 x i32> splat (i32 1), <16 x i32> %v85
  %v87 = sitofp <16 x i32> %v72 to <16 x double>
  %v88 = sitofp <16 x i32> %v86 to <16 x double>
  %v89 = fdiv <16 x double> %v87, %v88
  %v90 = fptosi <16 x double> %v89 to <16 x i32>
  %v91 = add <16 x i32> %v52, %v90
  store <16 x i32> %v91, ptr %slot7
  br label %b11
b11:
  %v92 = load i32, ptr %slot8
  %v93 = add i32 %v92, 1
  store i32 %v93, ptr %slot8
  br label %b9
b2:
  %v94 = load i32, ptr %slot6
  %v95 = load i32, ptr %slot6
  br label %b3
b3:
  %v96 = icmp sgt i32 %v95, 3
  br i1 %v96, label %edge97, label %edge98
edge97:
  br label %b4
edge98:
  br label %b5
b5:
  %v99 = sub i32 %v95, 1
  store i32 %v99, ptr %slot100
  br label %b6
b4:
  %v101 = mul i32 %v95, 2
  store i32 %v101, ptr %slot100
  br label %b6
b6:
  %v102 = load i32, ptr %slot100
  %v111 = load i64, ptr %slot108
  %v112 = load i64, ptr %slot109
  %v113 = load i64, ptr %slot110
  %v114 = trunc i64 %v111 to i32
  %v115 = load i32, ptr %slot100
  %v116 = insertelement <16 x i32> poison, i32 %v115, i32 0
  %v117 = shufflevector <16 x i32> %v116, <16 x i32> poison, <16 x i32> zeroinitializer
  %v118 = insertelement <16 x i32> poison, i32 %v114, i32 0
  %v119 = shufflevector <16 x i32> %v118, <16 x i32> poison, <16 x i32> zeroinitializer
  %v120 = add <16 x i32> %v119, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v121 = mul <16 x i32> %v117, %v120
  %v122 = sext i32 %v94 to i64
  %v123 = mul i64 %v122, 1
  %v124 = add i64 0, %v123
  %v125 = call i64 @llvm.umin.i64(i64 %v124, i64 7)
  %v126 = getelementptr <16 x i32>, ptr %slot5, i64 %v125
  store <16 x i32> %v121, ptr %v126
  br label %b7
b7:
  %v127 = load i32, ptr %slot6
  %v128 = add i32 %v127, 1
  store i32 %v128, ptr %slot6
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