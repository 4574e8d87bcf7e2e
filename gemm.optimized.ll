; ModuleID = '<string>'
source_filename = "<string>"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(none)
declare target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.fill.0(float) local_unnamed_addr #0

; Function Attrs: mustprogress nounwind willreturn
declare void @matrix.store.1(target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2), ptr, i64) local_unnamed_addr #1

; Function Attrs: mustprogress nofree nounwind willreturn memory(read)
declare target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.load.2(ptr, i64) local_unnamed_addr #2

; Function Attrs: mustprogress nofree nounwind willreturn memory(read)
declare target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.load.4(ptr, i64) local_unnamed_addr #2

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(none)
declare target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.multiply.6(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0), target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1), target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2)) local_unnamed_addr #0

; Function Attrs: nounwind
define void @run(ptr captures(none) %launch, ptr readonly captures(none) %arguments, ptr readnone captures(none) %scratch) local_unnamed_addr #3 {
entry:
  %nx.at = getelementptr i8, ptr %launch, i64 72
  %nx = load i64, ptr %nx.at, align 4
  %ny.at = getelementptr i8, ptr %launch, i64 80
  %ny = load i64, ptr %ny.at, align 4
  %total.at = getelementptr i8, ptr %launch, i64 104
  %total = load i64, ptr %total.at, align 4
  %taken.at = getelementptr i8, ptr %launch, i64 112
  %chunk.at = getelementptr i8, ptr %launch, i64 120
  %chunk = load i64, ptr %chunk.at, align 4
  %count.at = getelementptr i8, ptr %launch, i64 128
  %count = load i64, ptr %count.at, align 4
  %stop.at = getelementptr i8, ptr %launch, i64 144
  %first3 = atomicrmw add ptr %taken.at, i64 %chunk monotonic, align 8
  %stop4 = load atomic i64, ptr %stop.at monotonic, align 8
  %stopped5 = icmp ne i64 %stop4, 0
  %over6 = icmp uge i64 %first3, %total
  %leave7 = or i1 %over6, %stopped5
  br i1 %leave7, label %done, label %some.lr.ph

some.lr.ph:                                       ; preds = %entry
  %argument5.i = getelementptr i8, ptr %arguments, i64 32
  %argument7.i = getelementptr i8, ptr %arguments, i64 48
  %argument9.i = getelementptr i8, ptr %arguments, i64 64
  %v25.i = tail call target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.fill.0(float 0.000000e+00)
  %argument3.i = getelementptr i8, ptr %arguments, i64 16
  %umax = tail call i64 @llvm.umax.i64(i64 %count, i64 1)
  br label %some

take.loopexit:                                    ; preds = %next.group.split, %next.group.split.us.us
  %first = atomicrmw add ptr %taken.at, i64 %chunk monotonic, align 8
  %stop = load atomic i64, ptr %stop.at monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  %over = icmp uge i64 %first, %total
  %leave = or i1 %over, %stopped
  br i1 %leave, label %done, label %some

some:                                             ; preds = %some.lr.ph, %take.loopexit
  %first8 = phi i64 [ %first3, %some.lr.ph ], [ %first, %take.loopexit ]
  %end.wanted = add i64 %first8, %chunk
  %end = tail call i64 @llvm.umin.i64(i64 %end.wanted, i64 %total)
  %pointer6.i = load ptr, ptr %argument5.i, align 8, !alias.scope !0
  %v8.i = load i32, ptr %argument7.i, align 8, !alias.scope !0
  %v10.i = load i32, ptr %argument9.i, align 8, !alias.scope !0
  %v291.i = icmp sgt i32 %v10.i, 0
  %.pre.i = sext i32 %v8.i to i64
  %v44.i = zext nneg i32 %v10.i to i64
  %factor.op.mul = shl nuw nsw i64 %v44.i, 4
  %v53.i = shl nuw nsw i64 %v44.i, 1
  %v66.i = shl nsw i64 %.pre.i, 1
  %v42.i = shl nsw i64 %.pre.i, 2
  br i1 %v291.i, label %some.split.us, label %some.split

some.split.us:                                    ; preds = %some
  %pointer4.i.us.us = load ptr, ptr %argument3.i, align 8, !alias.scope !0
  %pointer2.i.us.us = load ptr, ptr %arguments, align 8, !alias.scope !0
  %factor.op.mul2 = shl nsw i64 %.pre.i, 5
  br label %group.us

group.us:                                         ; preds = %next.group.split.us.us, %some.split.us
  %g.us = phi i64 [ %first8, %some.split.us ], [ %g.next.us, %next.group.split.us.us ]
  %gx.us = urem i64 %g.us, %nx
  %rest.us = udiv i64 %g.us, %nx
  %gy.us = urem i64 %rest.us, %ny
  %v34.i.us.reass = mul i64 %gy.us, %factor.op.mul2
  %v38.i.us = shl i64 %gx.us, 6
  %invariant.gep.us = getelementptr i8, ptr %pointer6.i, i64 %v38.i.us
  %v45.i.reass.us = mul i64 %gy.us, %factor.op.mul
  %v63.i.us = shl i64 %gx.us, 5
  %v47.i.us.us = getelementptr i8, ptr %pointer2.i.us.us, i64 %v45.i.reass.us
  %invariant.gep.i.us.us = getelementptr i8, ptr %pointer4.i.us.us, i64 %v63.i.us
  %gep.us.us = getelementptr i8, ptr %invariant.gep.us, i64 %v34.i.us.reass
  br label %sub.groups.us.us

sub.groups.us.us:                                 ; preds = %sub_group.exit.loopexit.us.us, %group.us
  %sg.us.us = phi i64 [ 0, %group.us ], [ %sg.next.us.us, %sub_group.exit.loopexit.us.us ]
  tail call void @llvm.experimental.noalias.scope.decl(metadata !0)
  br label %b2.i.us.us

b2.i.us.us:                                       ; preds = %b2.i.us.us, %sub.groups.us.us
  %slot26.sroa.0.03.i.us.us = phi target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) [ %v25.i, %sub.groups.us.us ], [ %v73.i.us.us, %b2.i.us.us ]
  %slot13.02.i.us.us = phi i32 [ 0, %sub.groups.us.us ], [ %v75.i.us.us, %b2.i.us.us ]
  %v49.i.us.us = sext i32 %slot13.02.i.us.us to i64
  %v50.i.us.us = shl nsw i64 %v49.i.us.us, 1
  %v51.i.us.us = getelementptr i8, ptr %v47.i.us.us, i64 %v50.i.us.us
  %v54.i.us.us = tail call target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @matrix.load.2(ptr %v51.i.us.us, i64 %v53.i), !noalias !0
  %v58.i.us.us = mul i32 %slot13.02.i.us.us, %v8.i
  %v59.i.us.us = sext i32 %v58.i.us.us to i64
  %v60.i.us.us = shl nsw i64 %v59.i.us.us, 1
  %gep.i.us.us = getelementptr i8, ptr %invariant.gep.i.us.us, i64 %v60.i.us.us
  %v67.i.us.us = tail call target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) @matrix.load.4(ptr %gep.i.us.us, i64 %v66.i), !noalias !0
  %v73.i.us.us = tail call target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) @matrix.multiply.6(target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) %v54.i.us.us, target("spirv.CooperativeMatrixKHR", half, 3, 16, 16, 1) %v67.i.us.us, target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %slot26.sroa.0.03.i.us.us)
  %v75.i.us.us = add i32 %slot13.02.i.us.us, 16
  %v29.i.us.us = icmp slt i32 %v75.i.us.us, %v10.i
  br i1 %v29.i.us.us, label %b2.i.us.us, label %sub_group.exit.loopexit.us.us

sub_group.exit.loopexit.us.us:                    ; preds = %b2.i.us.us
  tail call void @matrix.store.1(target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v73.i.us.us, ptr %gep.us.us, i64 %v42.i), !noalias !0
  %sg.next.us.us = add nuw i64 %sg.us.us, 1
  %exitcond10.not = icmp eq i64 %sg.next.us.us, %umax
  br i1 %exitcond10.not, label %next.group.split.us.us, label %sub.groups.us.us

next.group.split.us.us:                           ; preds = %sub_group.exit.loopexit.us.us
  %g.next.us = add i64 %g.us, 1
  %more.us = icmp ult i64 %g.next.us, %end
  br i1 %more.us, label %group.us, label %take.loopexit

some.split:                                       ; preds = %some
  %factor.op.mul1 = shl nsw i64 %.pre.i, 5
  br label %group

group:                                            ; preds = %next.group.split, %some.split
  %g = phi i64 [ %first8, %some.split ], [ %g.next, %next.group.split ]
  %gx = urem i64 %g, %nx
  %rest = udiv i64 %g, %nx
  %gy = urem i64 %rest, %ny
  %v34.i.reass = mul i64 %gy, %factor.op.mul1
  %v38.i = shl i64 %gx, 6
  %invariant.gep = getelementptr i8, ptr %pointer6.i, i64 %v38.i
  %gep = getelementptr i8, ptr %invariant.gep, i64 %v34.i.reass
  br label %sub.groups

sub.groups:                                       ; preds = %sub.groups, %group
  %sg = phi i64 [ 0, %group ], [ %sg.next, %sub.groups ]
  tail call void @llvm.experimental.noalias.scope.decl(metadata !0)
  tail call void @matrix.store.1(target("spirv.CooperativeMatrixKHR", float, 3, 8, 16, 2) %v25.i, ptr %gep, i64 %v42.i), !noalias !0
  %sg.next = add nuw i64 %sg, 1
  %exitcond.not = icmp eq i64 %sg.next, %umax
  br i1 %exitcond.not, label %next.group.split, label %sub.groups

next.group.split:                                 ; preds = %sub.groups
  %g.next = add nuw i64 %g, 1
  %more = icmp ult i64 %g.next, %end
  br i1 %more, label %group, label %take.loopexit

done:                                             ; preds = %take.loopexit, %entry
  ret void
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #5

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umax.i64(i64, i64) #4

attributes #0 = { mustprogress nofree nosync nounwind willreturn memory(none) }
attributes #1 = { mustprogress nounwind willreturn }
attributes #2 = { mustprogress nofree nounwind willreturn memory(read) }
attributes #3 = { nounwind }
attributes #4 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }

!0 = !{!1}
!1 = distinct !{!1, !2, !"sub_group: %arguments"}
!2 = distinct !{!2, !"sub_group"}
