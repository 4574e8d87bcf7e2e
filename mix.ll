

define internal void @sub_group(ptr noalias %launch, ptr noalias %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber) #0 {
entry:
  %argument1 = getelementptr i8, ptr %arguments, i64 0
  %pointer2 = load ptr, ptr %argument1, align 8
  %argument3 = getelementptr i8, ptr %arguments, i64 16
  %pointer4 = load ptr, ptr %argument3, align 8
  %argument5 = getelementptr i8, ptr %arguments, i64 32
  %v6 = load i32, ptr %argument5, align 4
  %slot7 = alloca <16 x i1>
  store <16 x i1> zeroinitializer, ptr %slot7
  %v8 = mul i64 %sg, 16
  %at9 = getelementptr i64, ptr %launch, i64 3
  %field10 = load i64, ptr %at9, align 8, !invariant.load !0
  %at11 = getelementptr i64, ptr %launch, i64 4
  %field12 = load i64, ptr %at11, align 8, !invariant.load !0
  %v13 = udiv i64 %v8, %field10
  %v14 = urem i64 %v8, %field10
  %v15 = urem i64 %v13, %field12
  %v16 = udiv i64 %v13, %field12
  %at17 = getelementptr i64, ptr %launch, i64 6
  %field18 = load i64, ptr %at17, align 8, !invariant.load !0
  %v19 = mul i64 %gx, %field10
  %v20 = add i64 %v19, %field18
  %v21 = add i64 %v14, %v20
  %at22 = getelementptr i64, ptr %launch, i64 7
  %field23 = load i64, ptr %at22, align 8, !invariant.load !0
  %v24 = mul i64 %gy, %field12
  %v25 = add i64 %v24, %field23
  %v26 = add i64 %v15, %v25
  %at27 = getelementptr i64, ptr %launch, i64 5
  %field28 = load i64, ptr %at27, align 8, !invariant.load !0
  %at29 = getelementptr i64, ptr %launch, i64 8
  %field30 = load i64, ptr %at29, align 8, !invariant.load !0
  %v31 = mul i64 %gz, %field28
  %v32 = add i64 %v31, %field30
  %v33 = add i64 %v16, %v32
  %slot34 = alloca i64
  store i64 0, ptr %slot34
  store i64 %v21, ptr %slot34
  %slot35 = alloca i64
  store i64 0, ptr %slot35
  store i64 %v26, ptr %slot35
  %slot36 = alloca i64
  store i64 0, ptr %slot36
  store i64 %v33, ptr %slot36
  %at40 = getelementptr i64, ptr %launch, i64 0
  %field41 = load i64, ptr %at40, align 8, !invariant.load !0
  %at42 = getelementptr i64, ptr %launch, i64 1
  %field43 = load i64, ptr %at42, align 8, !invariant.load !0
  %at44 = getelementptr i64, ptr %launch, i64 2
  %field45 = load i64, ptr %at44, align 8, !invariant.load !0
  %slot46 = alloca i64
  store i64 0, ptr %slot46
  store i64 %field41, ptr %slot46
  %slot47 = alloca i64
  store i64 0, ptr %slot47
  store i64 %field43, ptr %slot47
  %slot48 = alloca i64
  store i64 0, ptr %slot48
  store i64 %field45, ptr %slot48
  %slot57 = alloca i64
  store i64 0, ptr %slot57
  %slot62 = alloca i64
  store i64 0, ptr %slot62
  store i64 %gx, ptr %slot62
  %slot63 = alloca i64
  store i64 0, ptr %slot63
  store i64 %gy, ptr %slot63
  %slot64 = alloca i64
  store i64 0, ptr %slot64
  store i64 %gz, ptr %slot64
  %slot72 = alloca <16 x i32>
  store <16 x i32> zeroinitializer, ptr %slot72
  %slot73 = alloca i32
  store i32 0, ptr %slot73
  br label %b0
b0:
  %v37 = load i64, ptr %slot34
  %v38 = load i64, ptr %slot35
  %v39 = load i64, ptr %slot36
  %v49 = load i64, ptr %slot46
  %v50 = load i64, ptr %slot47
  %v51 = load i64, ptr %slot48
  %v52 = load i64, ptr %slot34
  %v53 = load i64, ptr %slot35
  %v54 = load i64, ptr %slot36
  %v55 = mul i64 %v49, %v53
  %v56 = add i64 %v37, %v55
  store i64 %v56, ptr %slot57
  %v58 = load i64, ptr %slot57
  %v59 = mul i64 %v58, 4
  %v60 = getelementptr i8, ptr %pointer4, i64 %v59
  %v61 = load <16 x i32>, ptr %v60, align 4
  %v65 = load i64, ptr %slot62
  %v66 = load i64, ptr %slot63
  %v67 = load i64, ptr %slot64
  %v68 = trunc i64 %v65 to i32
  %v69 = insertelement <16 x i32> poison, i32 %v68, i32 0
  %v70 = shufflevector <16 x i32> %v69, <16 x i32> poison, <16 x i32> zeroinitializer
  %v71 = xor <16 x i32> %v61, %v70
  store <16 x i32> %v71, ptr %slot72
  store i32 0, ptr %slot73
  br label %b1
b1:
  %v74 = load i32, ptr %slot73
  %v75 = icmp ult i32 %v74, %v6
  br i1 %v75, label %edge76, label %edge77
edge76:
  br label %b2
edge77:
  br label %b6
b2:
  %v78 = load <16 x i32>, ptr %slot72
  %v79 = mul <16 x i32> %v78, splat (i32 1664525)
  %v80 = add <16 x i32> %v79, splat (i32 1013904223)
  store <16 x i32> %v80, ptr %slot72
  %v81 = load <16 x i32>, ptr %slot72
  %v82 = and <16 x i32> %v81, splat (i32 4096)
  %v83 = icmp ne <16 x i32> %v82, splat (i32 0)
  %v84 = xor <16 x i1> %v83, splat (i1 true)
  %v85 = load <16 x i1>, ptr %slot7
  %v86 = or <16 x i1> %v85, %v83
  store <16 x i1> %v86, ptr %slot7
  br label %c3
c3:
  %v87 = load <16 x i1>, ptr %slot7
  %v88 = bitcast <16 x i1> %v87 to i16
  %v89 = icmp ne i16 %v88, 0
  br i1 %v89, label %b3, label %b4
b3:
  store <16 x i1> zeroinitializer, ptr %slot7
  %v90 = load <16 x i32>, ptr %slot72
  %v91 = load <16 x i32>, ptr %slot72
  %v92 = lshr <16 x i32> %v91, splat (i32 7)
  %v93 = xor <16 x i32> %v90, %v92
  %v94 = load <16 x i32>, ptr %slot72
  %v95 = select <16 x i1> %v87, <16 x i32> %v93, <16 x i32> %v94
  store <16 x i32> %v95, ptr %slot72
  br label %b4
b4:
  br label %b5
b5:
  %v96 = load i32, ptr %slot73
  %v97 = add i32 %v96, 1
  store i32 %v97, ptr %slot73
  br label %b1
b6:
  %v98 = load i64, ptr %slot57
  %v99 = mul i64 %v98, 4
  %v100 = getelementptr i8, ptr %pointer2, i64 %v99
  %v101 = load <16 x i32>, ptr %slot72
  store <16 x i32> %v101, ptr %v100, align 4
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
  %plane = mul i64 %nx, %ny
  %band.groups = mul i64 %nx, 8
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
  %gz = udiv i64 %g, %plane
  %in.plane = urem i64 %g, %plane
  %band = udiv i64 %in.plane, %band.groups
  %in.band = urem i64 %in.plane, %band.groups
  %first.row = mul i64 %band, 8
  %rows.left = sub i64 %ny, %first.row
  %is.short = icmp ult i64 %rows.left, 8
  %height = select i1 %is.short, i64 %rows.left, i64 8
  %gx = udiv i64 %in.band, %height
  %in.column = urem i64 %in.band, %height
  %gy = add i64 %first.row, %in.column

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