declare <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x i32>)
declare void @llvm.masked.scatter.v16i32.v16p0(<16 x i32>, <16 x ptr>, i32, <16 x i1>)

define internal void @sub_group(ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber) #0 {
entry:
  %argument1 = getelementptr i8, ptr %arguments, i64 0
  %pointer2 = load ptr, ptr %argument1, align 8
  %argument3 = getelementptr i8, ptr %arguments, i64 16
  %pointer4 = load ptr, ptr %argument3, align 8
  %slot5 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot5
  %slot6 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot6
  %slot7 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot7
  %slot8 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot8
  %slot9 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot9
  %slot10 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot10
  %slot11 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot11
  %slot12 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot12
  %slot13 = alloca <16 x i64>
  store <16 x i64> zeroinitializer, ptr %slot13
  %slot14 = alloca <16 x i32>
  store <16 x i32> zeroinitializer, ptr %slot14
  %slot15 = alloca <16 x i32>
  store <16 x i32> zeroinitializer, ptr %slot15
  %v16 = mul i64 %sg, 16
  %at17 = getelementptr i64, ptr %launch, i64 3
  %field18 = load i64, ptr %at17, align 8, !invariant.load !0
  %at19 = getelementptr i64, ptr %launch, i64 4
  %field20 = load i64, ptr %at19, align 8, !invariant.load !0
  %v21 = udiv i64 %v16, %field18
  %v22 = urem i64 %v16, %field18
  %v23 = urem i64 %v21, %field20
  %v24 = udiv i64 %v21, %field20
  %at25 = getelementptr i64, ptr %launch, i64 6
  %field26 = load i64, ptr %at25, align 8, !invariant.load !0
  %v27 = mul i64 %gx, %field18
  %v28 = add i64 %v27, %field26
  %v29 = add i64 %v22, %v28
  %at30 = getelementptr i64, ptr %launch, i64 7
  %field31 = load i64, ptr %at30, align 8, !invariant.load !0
  %v32 = mul i64 %gy, %field20
  %v33 = add i64 %v32, %field31
  %v34 = add i64 %v23, %v33
  %at35 = getelementptr i64, ptr %launch, i64 5
  %field36 = load i64, ptr %at35, align 8, !invariant.load !0
  %at37 = getelementptr i64, ptr %launch, i64 8
  %field38 = load i64, ptr %at37, align 8, !invariant.load !0
  %v39 = mul i64 %gz, %field36
  %v40 = add i64 %v39, %field38
  %v41 = add i64 %v24, %v40
  %slot42 = alloca i64
  store i64 0, ptr %slot42
  store i64 %v29, ptr %slot42
  %slot43 = alloca i64
  store i64 0, ptr %slot43
  store i64 %v34, ptr %slot43
  %slot44 = alloca i64
  store i64 0, ptr %slot44
  store i64 %v41, ptr %slot44
  br label %b0
b0:
  store <16 x i64> splat (i64 0), ptr %slot13
  store <16 x i32> splat (i32 0), ptr %slot14
  store <16 x i32> splat (i32 0), ptr %slot15
  %v45 = load i64, ptr %slot42
  %v46 = load i64, ptr %slot43
  %v47 = load i64, ptr %slot44
  %v48 = insertelement <16 x i64> poison, i64 %v45, i32 0
  %v49 = shufflevector <16 x i64> %v48, <16 x i64> poison, <16 x i32> zeroinitializer
  %v50 = add <16 x i64> %v49, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  store <16 x i64> %v50, ptr %slot13
  %v51 = load <16 x i64>, ptr %slot13
  %v52 = mul <16 x i64> %v51, splat (i64 4)
  %v53 = getelementptr i8, ptr %pointer4, <16 x i64> %v52
  %v54 = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> %v53, i32 4, <16 x i1> splat (i1 true), <16 x i32> zeroinitializer)
  store <16 x i32> %v54, ptr %slot14
  store <16 x i32> splat (i32 0), ptr %slot15
  %v55 = load <16 x i1>, ptr %slot5
  %v56 = or <16 x i1> %v55, splat (i1 true)
  store <16 x i1> %v56, ptr %slot5
  br label %c1
c1:
  %v57 = load <16 x i1>, ptr %slot5
  %v58 = bitcast <16 x i1> %v57 to i16
  %v59 = icmp ne i16 %v58, 0
  br i1 %v59, label %b1, label %c2
b1:
  store <16 x i1> zeroinitializer, ptr %slot5
  %v60 = load <16 x i32>, ptr %slot14
  %v61 = icmp ne <16 x i32> %v60, splat (i32 1)
  %v62 = xor <16 x i1> %v61, splat (i1 true)
  %v63 = and <16 x i1> %v57, %v61
  %v64 = load <16 x i1>, ptr %slot6
  %v65 = or <16 x i1> %v64, %v63
  store <16 x i1> %v65, ptr %slot6
  %v66 = and <16 x i1> %v57, %v62
  br label %c2
c2:
  %v67 = load <16 x i1>, ptr %slot6
  %v68 = bitcast <16 x i1> %v67 to i16
  %v69 = icmp ne i16 %v68, 0
  br i1 %v69, label %b2, label %c4
b2:
  store <16 x i1> zeroinitializer, ptr %slot6
  %v70 = load <16 x i32>, ptr %slot14
  %v71 = and <16 x i32> %v70, splat (i32 1)
  %v72 = icmp ne <16 x i32> %v71, splat (i32 0)
  %v73 = xor <16 x i1> %v72, splat (i1 true)
  %v74 = and <16 x i1> %v67, %v72
  %v75 = load <16 x i1>, ptr %slot7
  %v76 = or <16 x i1> %v75, %v74
  store <16 x i1> %v76, ptr %slot7
  %v77 = and <16 x i1> %v67, %v73
  %v78 = load <16 x i1>, ptr %slot8
  %v79 = or <16 x i1> %v78, %v77
  store <16 x i1> %v79, ptr %slot8
  br label %c4
c4:
  %v80 = load <16 x i1>, ptr %slot8
  %v81 = bitcast <16 x i1> %v80 to i16
  %v82 = icmp ne i16 %v81, 0
  br i1 %v82, label %b4, label %c3
b4:
  store <16 x i1> zeroinitializer, ptr %slot8
  %v83 = load <16 x i32>, ptr %slot14
  %v84 = lshr <16 x i32> %v83, splat (i32 1)
  %v85 = load <16 x i32>, ptr %slot14
  %v86 = select <16 x i1> %v80, <16 x i32> %v84, <16 x i32> %v85
  store <16 x i32> %v86, ptr %slot14
  %v87 = load <16 x i1>, ptr %slot9
  %v88 = or <16 x i1> %v87, %v80
  store <16 x i1> %v88, ptr %slot9
  br label %c3
c3:
  %v89 = load <16 x i1>, ptr %slot7
  %v90 = bitcast <16 x i1> %v89 to i16
  %v91 = icmp ne i16 %v90, 0
  br i1 %v91, label %b3, label %c5
b3:
  store <16 x i1> zeroinitializer, ptr %slot7
  %v92 = load <16 x i32>, ptr %slot14
  %v93 = mul <16 x i32> splat (i32 3), %v92
  %v94 = add <16 x i32> %v93, splat (i32 1)
  %v95 = load <16 x i32>, ptr %slot14
  %v96 = select <16 x i1> %v89, <16 x i32> %v94, <16 x i32> %v95
  store <16 x i32> %v96, ptr %slot14
  %v97 = load <16 x i1>, ptr %slot9
  %v98 = or <16 x i1> %v97, %v89
  store <16 x i1> %v98, ptr %slot9
  br label %c5
c5:
  %v99 = load <16 x i1>, ptr %slot9
  %v100 = bitcast <16 x i1> %v99 to i16
  %v101 = icmp ne i16 %v100, 0
  br i1 %v101, label %b5, label %c7
b5:
  store <16 x i1> zeroinitializer, ptr %slot9
  %v102 = load <16 x i32>, ptr %slot15
  %v103 = icmp sgt <16 x i32> %v102, splat (i32 1000)
  %v104 = xor <16 x i1> %v103, splat (i1 true)
  %v105 = and <16 x i1> %v99, %v103
  %v106 = load <16 x i1>, ptr %slot10
  %v107 = or <16 x i1> %v106, %v105
  store <16 x i1> %v107, ptr %slot10
  %v108 = and <16 x i1> %v99, %v104
  %v109 = load <16 x i1>, ptr %slot11
  %v110 = or <16 x i1> %v109, %v108
  store <16 x i1> %v110, ptr %slot11
  br label %c7
c7:
  %v111 = load <16 x i1>, ptr %slot11
  %v112 = bitcast <16 x i1> %v111 to i16
  %v113 = icmp ne i16 %v112, 0
  br i1 %v113, label %b7, label %c8
b7:
  store <16 x i1> zeroinitializer, ptr %slot11
  %v114 = load <16 x i32>, ptr %slot15
  %v115 = add <16 x i32> %v114, splat (i32 1)
  %v116 = load <16 x i32>, ptr %slot15
  %v117 = select <16 x i1> %v111, <16 x i32> %v115, <16 x i32> %v116
  store <16 x i32> %v117, ptr %slot15
  %v118 = load <16 x i1>, ptr %slot12
  %v119 = or <16 x i1> %v118, %v111
  store <16 x i1> %v119, ptr %slot12
  br label %c8
c8:
  %v120 = load <16 x i1>, ptr %slot12
  %v121 = bitcast <16 x i1> %v120 to i16
  %v122 = icmp ne i16 %v121, 0
  br i1 %v122, label %b8, label %c6
b8:
  store <16 x i1> zeroinitializer, ptr %slot12
  %v123 = load <16 x i1>, ptr %slot5
  %v124 = or <16 x i1> %v123, %v120
  store <16 x i1> %v124, ptr %slot5
  %v125 = load <16 x i1>, ptr %slot5
  %v127 = bitcast <16 x i1> %v125 to i16
  %v128 = icmp ne i16 %v127, 0
  br i1 %v128, label %c1, label %on126
on126:
  br label %c6
c6:
  %v129 = load <16 x i1>, ptr %slot10
  %v130 = bitcast <16 x i1> %v129 to i16
  %v131 = icmp ne i16 %v130, 0
  br i1 %v131, label %b6, label %b9
b6:
  store <16 x i1> zeroinitializer, ptr %slot10
  br label %b9
b9:
  %v132 = load <16 x i64>, ptr %slot13
  %v133 = mul <16 x i64> %v132, splat (i64 4)
  %v134 = getelementptr i8, ptr %pointer2, <16 x i64> %v133
  %v135 = load <16 x i32>, ptr %slot15
  call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %v135, <16 x ptr> %v134, i32 4, <16 x i1> splat (i1 true))
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