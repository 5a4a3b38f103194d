(* Noisy sums with correlated noise (`bounds/correlated_sums.py`): a draw releases S(D_j) + c_j (y_parent - S(D_parent)) + noise. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws.
Import ListNotations.
Open Scope R_scope.

Section Account.
Context {I : coordinates} (M : measure).
Notation V := (vec I).

(* What is fixed once all earlier draws are seen: c, the noise, the parent's output, and the sums of both tables in either
   world. Requests may be any functions of what was seen, so parents form any tree. *)
Record draw := {
  carry : R; noise : R; parent : V;
  sum_one : V; parent_one : V; (* S(D_j), S(D_parent) in world 1 *)
  sum_two : V; parent_two : V }.

Definition law_one (d : draw) := gauss (vadd (sum_one d) (vscal (carry d) (vsub (parent d) (parent_one d)))) (noise d).
Definition law_two (d : draw) := gauss (vadd (sum_two d) (vscal (carry d) (vsub (parent d) (parent_two d)))) (noise d).

(* P_j - c_j P_parent *)
Definition moved (d : draw) : V :=
  vsub (vsub (sum_one d) (sum_two d)) (vscal (carry d) (vsub (parent_one d) (parent_two d))).

(* the law of n further draws, all of them seen; `next` is the requester *)
Fixpoint draws (law : draw -> Law V) (next : list V -> draw) (n : nat) (seen : list V) : Law (list V) :=
  match n with O => ret seen | S n => bind (law (next seen)) (fun y => draws law next n (y :: seen)) end.

Fixpoint sum_of (charge : nat -> R) (from n : nat) : R :=
  match n with O => 0 | S n => charge from + sum_of charge (S from) n end.

(* |P_j - c_j P_parent|^2 / sigma_j^2, added over the draws: for adaptive requests, if every draw's charge keeps to its own cap *)
Theorem account_of_draws next (charge : nat -> R) n :
  (forall seen, 0 < noise (next seen)) ->
  (forall seen, normsq (moved (next seen)) <= charge (length seen) * (noise (next seen) * noise (next seen))) ->
  (forall k, 0 <= charge k) ->
  forall seen, cost M (sum_of charge (length seen) n) (draws law_one next n seen) (draws law_two next n seen).
Proof.
  intros Hn Hc H0. assert (P : forall n k, 0 <= sum_of charge k n).
  { clear n. induction n; intros k; simpl; [lra|]. generalize (H0 k) (IHn (S k)). lra. }
  induction n as [|n IH]; intros seen; simpl; [apply cost_same|].
  apply cost_bind; auto.
  - set (d := next seen). generalize (Hn seen) (Hc seen). fold d. intros Nd Cd.
    apply cost_monotone with (normsq (moved d) / (noise d * noise d)).
    + apply Rmult_le_pos; [apply normsq_nonneg | left; apply Rinv_0_lt_compat; nra].
    + apply (Rmult_le_reg_r (noise d * noise d)); [nra|]. replace (normsq (moved d) / (noise d * noise d) * (noise d * noise d)) with (normsq (moved d)) by (field; lra). exact Cd.
    + rewrite <- norm_sq. apply cost_gauss; [apply norm_nonneg | exact Nd |].
      right. f_equal. unfold moved. vec_ring.
  - intros y. apply (IH (y :: seen)).
Qed.

(* A cap on whole paths: what a draw is charged may depend on all that was seen, as long as no path is charged more than the cap in
   total. The charge of the next draw is fixed before it is made, so what is left of the cap is a bound for every outcome. *)
Fixpoint keeps_to (cap : R) (next : list V -> draw) (charge : list V -> R) (n : nat) (seen : list V) : Prop :=
  match n with O => 0 <= cap | S n => forall y, keeps_to (cap - charge seen) next charge n (y :: seen) end.

Lemma cap_nonneg next charge n : (forall seen, 0 <= charge seen) -> forall cap seen, keeps_to cap next charge n seen -> 0 <= cap.
Proof.
  intros H0. induction n as [|n IH]; intros cap seen K; simpl in K; [exact K|].
  generalize (IH _ _ (K vzero)) (H0 seen). lra.
Qed.

Theorem account_of_paths next (charge : list V -> R) n :
  (forall seen, 0 < noise (next seen)) -> (forall seen, 0 <= charge seen) ->
  (forall seen, normsq (moved (next seen)) <= charge seen * (noise (next seen) * noise (next seen))) ->
  forall cap seen, keeps_to cap next charge n seen -> cost M cap (draws law_one next n seen) (draws law_two next n seen).
Proof.
  intros Hn H0 Hc. induction n as [|n IH]; intros cap seen K; simpl in K |- *.
  - apply cost_monotone with 0; [lra | exact K | apply cost_same].
  - assert (L : 0 <= cap - charge seen) by exact (cap_nonneg next charge n H0 _ _ (K vzero)).
    replace cap with (charge seen + (cap - charge seen)) by ring.
    apply cost_bind; [apply H0 | exact L | | intros y; apply IH, K].
    + set (d := next seen). generalize (Hn seen) (Hc seen). fold d. intros Nd Cd.
      apply cost_monotone with (normsq (moved d) / (noise d * noise d)).
      * apply Rmult_le_pos; [apply normsq_nonneg | left; apply Rinv_0_lt_compat; nra].
      * apply (Rmult_le_reg_r (noise d * noise d)); [nra|]. replace (normsq (moved d) / (noise d * noise d) * (noise d * noise d)) with (normsq (moved d)) by (field; lra). exact Cd.
      * rewrite <- norm_sq. apply cost_gauss; [apply norm_nonneg | exact Nd |].
        right. f_equal. unfold moved. vec_ring.
Qed.

(* what one person is charged: rows in both tables, in the draw's only, in the parent's only *)
Lemma charge_of_person d (stay join leave : V) m_stay m_join m_leave Delta :
  0 <= carry d -> vsub (sum_one d) (sum_two d) = vadd stay join -> vsub (parent_one d) (parent_two d) = vadd stay leave ->
  norm stay <= m_stay * Delta -> norm join <= m_join * Delta -> norm leave <= m_leave * Delta ->
  norm (moved d) <= (Rabs (1 - carry d) * m_stay + m_join + carry d * m_leave) * Delta.
Proof.
  intros Hc E E' Hs Hj Hl. unfold moved. rewrite E, E'.
  replace (vsub (vadd stay join) (vscal (carry d) (vadd stay leave)))
    with (vadd (vadd (vscal (1 - carry d) stay) join) (vscal (- carry d) leave)) by vec_ring.
  generalize (norm_triangle (vadd (vscal (1 - carry d) stay) join) (vscal (- carry d) leave)) (norm_triangle (vscal (1 - carry d) stay) join).
  rewrite !norm_scal, Rabs_Ropp, (Rabs_pos_eq (carry d)) by assumption.
  generalize (Rabs_pos (1 - carry d)). intros.
  assert (Rabs (1 - carry d) * norm stay <= Rabs (1 - carry d) * (m_stay * Delta)) by now apply Rmult_le_compat_l.
  assert (carry d * norm leave <= carry d * (m_leave * Delta)) by now apply Rmult_le_compat_l. lra.
Qed.

(* --- fixed requests: the account is the joint law --- *)

Section Chain.
Variables (c sd : nat -> R).
Hypothesis sd_pos : forall j, 0 < sd j.

(* The draws as a function of the noise: y_0 = S_0 + sigma_0 xi_0, y_j = S_j + c_j (y_{j-1} - S_{j-1}) + sigma_j xi_j. *)
Fixpoint released (S : nat -> V) (xi : nat -> V) (j : nat) : V :=
  match j with
  | O => vadd (S O) (vscal (sd O) (xi O))
  | Datatypes.S i => vadd (vadd (S j) (vscal (c j) (vsub (released S xi i) (S i)))) (vscal (sd j) (xi j))
  end.

(* the noise alone *)
Fixpoint carried (xi : nat -> V) (j : nat) : V :=
  match j with
  | O => vscal (sd O) (xi O)
  | Datatypes.S i => vadd (vscal (c j) (carried xi i)) (vscal (sd j) (xi j))
  end.

Lemma released_is S xi j : released S xi j = vadd (S j) (carried xi j).
Proof. induction j as [|i IH]; simpl; [reflexivity | rewrite IH; vec_ring]. Qed.

(* Exact forgetting: a draw whose table is the same in both worlds is the same function of the noise, whatever was in the
   tables before. So draws without a record have, jointly, the law that they would have if it had never been there. *)
Theorem later_draws_owe_nothing (S S' xi : nat -> V) j : S j = S' j -> released S xi j = released S' xi j.
Proof. intros H. now rewrite !released_is, H. Qed.

Corollary later_draws_one_law {A} (noise_law : Law (nat -> V)) (S S' : nat -> V) (seen : (nat -> V) -> A) (from : nat) :
  (forall j, (from <= j)%nat -> S j = S' j) ->
  (forall y y', (forall j, (from <= j)%nat -> y j = y' j) -> seen y = seen y') ->
  bind noise_law (fun xi => ret (seen (released S xi))) = bind noise_law (fun xi => ret (seen (released S' xi))).
Proof.
  intros H K. f_equal. apply functional_extensionality; intros xi. f_equal. apply K.
  intros j Hj. apply later_draws_owe_nothing, H, Hj.
Qed.

(* (P_j - c_j P_{j-1}) / sigma_j *)
Definition shift_of (S S' : nat -> V) (j : nat) : V :=
  match j with
  | O => vscal (/ sd O) (vsub (S O) (S' O))
  | Datatypes.S i => vscal (/ sd j) (vsub (vsub (S j) (S' j)) (vscal (c j) (vsub (S i) (S' i))))
  end.

(* World 1's draws are world 2's with the noise moved by a fixed vector, *)
Theorem joint_law_is_a_shift (S S' xi : nat -> V) j :
  released S xi j = released S' (fun k => vadd (xi k) (shift_of S S' k)) j.
Proof.
  induction j as [|i IH].
  - simpl. generalize (sd_pos 0); intros. apply functional_extensionality; intros k. unfold vadd, vsub, vscal. field. lra.
  - simpl released. rewrite IH. generalize (sd_pos (Datatypes.S i)); intros. apply functional_extensionality; intros k.
    simpl shift_of. unfold vadd, vsub, vscal. field. lra.
Qed.

(* and the noise can be read off the draws. So the pair of worlds is the pair of normal laws whose means lie that vector
   apart: its squared length, the sum of |P_j - c_j P_{j-1}|^2 / sigma_j^2, is mu^2 exactly, arrivals and departures included. *)
Theorem noise_can_be_read_off (S xi xi' : nat -> V) t :
  (forall j, (j <= t)%nat -> released S xi j = released S xi' j) -> forall j, (j <= t)%nat -> xi j = xi' j.
Proof.
  intros H j Hj. generalize (sd_pos j); intros P. apply functional_extensionality; intros k.
  destruct j as [|i].
  - generalize (H O Hj). simpl. intros E. apply (f_equal (fun v => v k)) in E. unfold vadd, vscal in E.
    apply (Rmult_eq_reg_l (sd 0)); lra.
  - generalize (H (Datatypes.S i) Hj) (H i ltac:(lia)). simpl. intros E E'. rewrite E' in E.
    apply (f_equal (fun v => v k)) in E. unfold vadd, vsub, vscal in E. apply (Rmult_eq_reg_l (sd (Datatypes.S i))); lra.
Qed.

Lemma shift_length (S S' : nat -> V) i :
  normsq (shift_of S S' (Datatypes.S i)) =
  normsq (vsub (vsub (S (Datatypes.S i)) (S' (Datatypes.S i))) (vscal (c (Datatypes.S i)) (vsub (S i) (S' i)))) / (sd (Datatypes.S i) * sd (Datatypes.S i)).
Proof. simpl. rewrite normsq_scal. generalize (sd_pos (Datatypes.S i)); intros. field. lra. Qed.

End Chain.
End Account.

(* --- the equaliser: what a schedule of T draws of one variance costs --- *)

Definition staying (m : R) : R := (sqrt (1 + m) - sqrt m) * (sqrt (1 + m) - sqrt m).

(* reserves, by the number of draws left: 1/3, then the root of m - u(m) = the one before *)
Fixpoint reserve (k : nat) : R :=
  match k with
  | O => 0
  | S O => 1 / 3
  | S k => (reserve k - 1 + 2 * sqrt (reserve k * reserve k + reserve k + 1)) / 3
  end.

Definition carry_of (m : R) : R := sqrt (m / (1 + m)).

(* with c^2 = m/(1+m) and sigma^2 = 1/(1+m) a leaver is charged m and who stays u(m), in units of Delta^2/V *)
Lemma charge_of_leaver m : 0 <= m -> carry_of m * carry_of m / (1 / (1 + m)) = m.
Proof.
  intros H. unfold carry_of. rewrite sqrt_sqrt by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]). field. lra.
Qed.

Lemma charge_of_stayer m : 0 <= m -> (1 - carry_of m) * (1 - carry_of m) / (1 / (1 + m)) = staying m.
Proof.
  intros H. unfold carry_of, staying. rewrite sqrt_div_alt by lra.
  assert (0 < sqrt (1 + m)) by (apply sqrt_lt_R0; lra).
  replace (1 / (1 + m)) with (/ (sqrt (1 + m) * sqrt (1 + m))) by (rewrite sqrt_sqrt by lra; field; lra).
  field. lra.
Qed.

Lemma reserve_step r : 0 < r -> let m := (r - 1 + 2 * sqrt (r * r + r + 1)) / 3 in r < m /\ m - staying m = r.
Proof.
  intros Hr m. set (w := sqrt (r * r + r + 1)) in *.
  assert (W : w * w = r * r + r + 1) by (apply sqrt_sqrt; nra).
  assert (W0 : 0 <= w) by apply sqrt_pos.
  assert (Wr : r + 1 / 2 < w) by nra.
  assert (Mr : r < m) by (unfold m; lra). split; auto.
  assert (Q : 4 * (m * (1 + m)) = (1 + m + r) * (1 + m + r)) by (unfold m; nra).
  assert (E : sqrt (1 + m) * sqrt m = (1 + m + r) / 2).
  { rewrite <- sqrt_mult by lra. replace ((1 + m) * m) with ((1 + m + r) / 2 * ((1 + m + r) / 2)) by lra. apply sqrt_square. lra. }
  unfold staying. replace ((sqrt (1 + m) - sqrt m) * (sqrt (1 + m) - sqrt m))
    with (sqrt (1 + m) * sqrt (1 + m) - 2 * (sqrt (1 + m) * sqrt m) + sqrt m * sqrt m) by ring.
  rewrite E, !sqrt_sqrt by lra. lra.
Qed.

Lemma reserve_SS k : reserve (S (S k)) = (reserve (S k) - 1 + 2 * sqrt (reserve (S k) * reserve (S k) + reserve (S k) + 1)) / 3.
Proof. reflexivity. Qed.

Lemma reserve_pos k : 0 < reserve (S k).
Proof.
  induction k as [|k IH]; [simpl; lra|]. rewrite reserve_SS. generalize (reserve_step _ IH). cbv zeta. lra.
Qed.

Lemma staying_third : staying (1 / 3) = 1 / 3.
Proof.
  unfold staying. replace (1 + 1 / 3) with (2 * 2 * (1 / 3)) by lra. rewrite sqrt_mult, sqrt_square by lra.
  replace ((2 * sqrt (1 / 3) - sqrt (1 / 3)) * (2 * sqrt (1 / 3) - sqrt (1 / 3))) with (sqrt (1 / 3) * sqrt (1 / 3)) by ring.
  apply sqrt_sqrt. lra.
Qed.

Lemma stay_once k : staying (reserve (S (S k))) + reserve (S k) = reserve (S (S k)).
Proof. rewrite reserve_SS. generalize (reserve_step _ (reserve_pos k)). cbv zeta. lra. Qed.

(* the charges of staying for j draws while k are left *)
Fixpoint stayed (k j : nat) : R :=
  match k, j with S k', S j' => staying (reserve k) + stayed k' j' | _, _ => 0 end.

(* Whoever was there from the first draw is charged one reserve more, whenever they leave, *)
Theorem leaving_costs_the_same k j : (j < k)%nat -> stayed k j + reserve (k - j) = reserve k.
Proof.
  revert j; induction k as [|k IH]; intros j H; [lia|]. destruct j as [|j]; [simpl stayed; rewrite Nat.sub_0_r; lra|].
  destruct k as [|k]; [lia|]. change (stayed (S (S k)) (S j)) with (staying (reserve (S (S k))) + stayed (S k) j).
  change (S (S k) - S j)%nat with (S k - j)%nat. rewrite Rplus_assoc, IH by lia. apply stay_once.
Qed.

(* or if they stay to the end. *)
Theorem staying_costs_the_same k : stayed k k = reserve k.
Proof.
  induction k as [|k IH]; [reflexivity|]. destruct k as [|k]; [simpl; rewrite staying_third; lra|].
  change (stayed (S (S k)) (S (S k))) with (staying (reserve (S (S k))) + stayed (S k) (S k)). rewrite IH. apply stay_once.
Qed.

Lemma staying_below m : 0 < m -> m * staying m <= 1 / 4.
Proof.
  intros H. unfold staying. set (a := sqrt (1 + m)). set (b := sqrt m).
  assert (A : a * a = 1 + m) by (apply sqrt_sqrt; lra). assert (B : b * b = m) by (apply sqrt_sqrt; lra).
  assert (0 <= a) by apply sqrt_pos. assert (0 <= b) by apply sqrt_pos.
  assert (b <= a) by (apply sqrt_le_1; lra).
  assert (K : 0 <= b * (a - b) <= 1 / 2) by (split; nra).
  rewrite <- B at 1. replace (b * b * ((a - b) * (a - b))) with (b * (a - b) * (b * (a - b))) by ring. nra.
Qed.

(* T draws cost less than 1 + sqrt((T - 2)/2 + 1/9), in units of Delta^2/V: here k = T - 1 *)
Theorem schedule_cost k : reserve (S k) * reserve (S k) <= INR k / 2 + 1 / 9.
Proof.
  induction k as [|k IH]; [simpl; lra|]. rewrite S_INR.
  generalize (stay_once k) (staying_below _ (reserve_pos (S k))) (reserve_pos k) (reserve_pos (S k)).
  set (r := reserve (S k)) in *. set (m := reserve (S (S k))). intros E B R M.
  replace (staying m) with (m - r) in B by lra. nra.
Qed.

(* a row that joins when k + 1 draws are left, and leaves at the next: below twice the whole cost less 1 *)
Theorem joiner_cost k n : (k <= n)%nat -> (1 + reserve (S (S k))) + reserve (S k) < 2 * (1 + reserve (S (S n))).
Proof.
  intros H. assert (Mono : forall i, reserve (S i) <= reserve (S (S i))).
  { intros i. rewrite reserve_SS. generalize (reserve_step _ (reserve_pos i)). cbv zeta. lra. }
  assert (G : reserve (S (S k)) <= reserve (S (S n))).
  { induction H; [lra|]. generalize (Mono (S m)). lra. }
  generalize (Mono k). lra.
Qed.

(* --- the cap of a chain for rows that come and go at any time (`worst_charges`) --- *)

Section Presence.
(* Delta of the person's rows; whether rows may join after the first draw, and whether they may leave *)
Variables (Delta : R) (joiners leavers : bool).

Inductive place := Before | Here | After.

(* A draw has c, its variance, and what rounding c (y - S) to the grid adds. From one draw to the next a person may join, stay, or
   leave for good. *)
Definition chain := list (R * R * R).
Definition joins (v : R) : R := Delta * Delta / v.
Definition stays (c v r : R) : R := ((1 - c) * Delta + r) * ((1 - c) * Delta + r) / v.
Definition leaves (c v r : R) : R := (c * Delta + r) * (c * Delta + r) / v.

Definition charge_of_move (c v r : R) (from to : place) : option R :=
  match from, to with
  | Before, Before | After, After => Some 0
  | Before, Here => if joiners then Some (joins v) else None
  | Here, Here => Some (stays c v r)
  | Here, After => if leavers then Some (leaves c v r) else None
  | _, _ => None end.

(* the charge of a path; None where it is no path *)
Fixpoint charge_of_path (draws : chain) (from : place) (path : list place) : option R :=
  match draws, path with
  | nil, nil => Some 0
  | (c, v, r) :: draws, to :: path =>
      match charge_of_move c v r from to, charge_of_path draws to path with Some a, Some b => Some (a + b) | _, _ => None end
  | _, _ => None end.

(* the largest charge, from the largest ones so far of those who are here and of those who left *)
Fixpoint worst (draws : chain) (present gone : R) : R :=
  match draws with
  | nil => Rmax present gone
  | (c, v, r) :: draws =>
      worst draws (if joiners then Rmax (present + stays c v r) (joins v) else present + stays c v r)
                  (if leavers then Rmax gone (present + leaves c v r) else gone) end.

Theorem worst_covers draws : (forall c v r, In (c, v, r) draws -> 0 < v) -> forall present gone path from spent total,
  spent <= (match from with Before => 0 | Here => present | After => gone end) -> 0 <= present -> 0 <= gone ->
  charge_of_path draws from path = Some total -> spent + total <= worst draws present gone.
Proof.
  intros P. induction draws as [|[[c v] r] draws IH]; intros present gone path from spent total S Hp Hg E; destruct path as [|to path]; simpl in E; try discriminate.
  - injection E as <-. simpl. generalize (Rmax_l present gone) (Rmax_r present gone). destruct from; lra.
  - assert (Pv : 0 < v) by (apply (P c v r); simpl; auto).
    destruct (charge_of_move c v r from to) as [a|] eqn:Ea; [|discriminate].
    destruct (charge_of_path draws to path) as [b|] eqn:Eb; [|discriminate]. injection E as <-.
    rewrite <- Rplus_assoc. simpl worst.
    assert (0 <= stays c v r) by (apply Rmult_le_pos; [apply Rle_0_sqr | left; now apply Rinv_0_lt_compat]).
    generalize (Rmax_l (present + stays c v r) (joins v)) (Rmax_r (present + stays c v r) (joins v))
      (Rmax_l gone (present + leaves c v r)) (Rmax_r gone (present + leaves c v r)). intros A1 A2 A3 A4.
    apply (IH ltac:(intros c' v' r' J; apply (P c' v' r'); simpl; auto) _ _ path to (spent + a) b); try exact Eb;
      unfold charge_of_move in Ea; destruct joiners, leavers, from, to; try discriminate; injection Ea as <-; lra.
Qed.

(* of a person who was there from the first draw, or joined or left later *)
Definition chain_cap (draws : chain) : R := match draws with nil => 0 | (_, v, _) :: draws => worst draws (joins v) 0 end.

Corollary chain_cap_covers c v r draws path total : (forall c' v' r', In (c', v', r') ((c, v, r) :: draws) -> 0 < v') ->
  charge_of_path draws Here path = Some total -> joins v + total <= chain_cap ((c, v, r) :: draws).
Proof.
  intros P E. simpl. apply (worst_covers draws ltac:(intros c' v' r' J; apply (P c' v' r'); simpl; auto) _ _ path Here); auto; try lra.
  apply Rmult_le_pos; [apply Rle_0_sqr | left; apply Rinv_0_lt_compat, (P c v r); simpl; auto].
Qed.

(* steps that a certificate takes with numbers *)
Definition within (draws : chain) (present gone most : R) : Prop :=
  forall p g, p <= present -> g <= gone -> worst draws p g <= most.

Lemma within_step c v r draws present gone present' gone' most :
  present + stays c v r <= present' -> (joiners = true -> joins v <= present') -> gone <= gone' ->
  (leavers = true -> present + leaves c v r <= gone') -> within draws present' gone' most -> within ((c, v, r) :: draws) present gone most.
Proof.
  intros A1 A2 A3 A4 W p g Hp Hg. simpl. apply W.
  - destruct joiners; [specialize (A2 eq_refl); apply Rmax_lub; lra | lra].
  - destruct leavers; [specialize (A4 eq_refl); apply Rmax_lub; lra | lra].
Qed.

Lemma within_end present gone most : present <= most -> gone <= most -> within nil present gone most.
Proof. intros A B p g Hp Hg. simpl. apply Rmax_lub; lra. Qed.

Lemma cap_shown c v r draws present most : joins v <= present -> within draws present 0 most -> chain_cap ((c, v, r) :: draws) <= most.
Proof. intros A W. simpl. apply W; lra. Qed.

End Presence.
