(* The distribution function of the normal law, from its density alone: the total mass is a limit, its value is not needed. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Definition bell (x : R) : R := exp (- (x * x) / 2).
Definition half_mass (x : R) : R := RInt bell 0 x.

Lemma bell_pos x : 0 < bell x.
Proof. apply exp_pos. Qed.

Lemma bell_even x : bell (- x) = bell x.
Proof. unfold bell; f_equal; field. Qed.

Lemma bell_cont x : continuous bell x.
Proof.
  apply (ex_derive_continuous bell). unfold bell. auto_derive. easy.
Qed.

Lemma bell_int a b : ex_RInt bell a b.
Proof. apply (@ex_RInt_continuous R_CompleteNormedModule); intros; apply bell_cont. Qed.

Lemma half_mass_derive x : is_derive half_mass x (bell x).
Proof.
  apply (is_derive_RInt bell half_mass 0 x).
  - apply filter_forall; intros. apply (@RInt_correct R_CompleteNormedModule), bell_int.
  - apply bell_cont.
Qed.

Lemma half_mass_increasing a b : a < b -> half_mass a < half_mass b.
Proof.
  intros H. unfold half_mass.
  rewrite <- (@RInt_Chasles R_CompleteNormedModule bell 0 a b) by apply bell_int.
  assert (0 < RInt bell a b) by (apply RInt_gt_0; auto; intros; [apply bell_pos | apply bell_cont]).
  unfold plus; simpl; lra.
Qed.

Lemma half_mass_odd x : half_mass (- x) = - half_mass x.
Proof.
  assert (A : is_RInt bell (- 0) (- x) (half_mass (- x)))
    by (rewrite Ropp_0; apply (@RInt_correct R_CompleteNormedModule), bell_int).
  apply (@is_RInt_comp_opp R_NormedModule) in A.
  assert (B : is_RInt (fun y => opp (bell (- y))) 0 x (opp (half_mass x))).
  { apply (@is_RInt_ext R_NormedModule (fun y => opp (bell y))); [intros; simpl; now rewrite bell_even|].
    apply (@is_RInt_opp R_NormedModule), (@RInt_correct R_CompleteNormedModule), bell_int. }
  apply (@is_RInt_unique R_CompleteNormedModule) in A. apply (@is_RInt_unique R_CompleteNormedModule) in B.
  exact (eq_trans (eq_sym A) B).
Qed.

Lemma half_mass_0 : half_mass 0 = 0.
Proof. apply (@RInt_point R_CompleteNormedModule). Qed.

Lemma bell_below x : bell x <= exp (1 - x).
Proof.
  unfold bell. destruct (Req_dec (- (x * x) / 2) (1 - x)) as [->|]; [lra|].
  left. apply exp_increasing. nra.
Qed.

Lemma half_mass_bounded x : 0 <= x -> half_mass x <= exp 1.
Proof.
  intros H.
  assert (forall y, is_derive (fun t => - exp (1 - t)) y (exp (1 - y))) as D by (intros; auto_derive; [easy | unfold Rminus; ring]).
  assert (I : is_RInt (fun t => exp (1 - t)) 0 x (minus (- exp (1 - x)) (- exp (1 - 0)))).
  { apply (is_RInt_derive (fun t => - exp (1 - t)) (fun t => exp (1 - t))); intros; auto.
    apply (ex_derive_continuous (fun t => exp (1 - t))). auto_derive; easy. }
  apply Rle_trans with (RInt (fun t => exp (1 - t)) 0 x).
  - apply RInt_le; auto; [apply bell_int | eexists; exact I | intros; apply bell_below].
  - rewrite (is_RInt_unique (V:=R_CompleteNormedModule) _ _ _ _ I). unfold minus, plus, opp; simpl.
    rewrite Rminus_0_r. generalize (exp_pos (1 - x)); lra.
Qed.

Definition half : R := real (Lim_seq (fun n => half_mass (INR n))).

Lemma half_is_lim : is_lim_seq (fun n => half_mass (INR n)) half.
Proof.
  apply Lim_seq_correct'. apply (ex_finite_lim_seq_incr _ (exp 1)).
  - intros n. left. apply half_mass_increasing. rewrite S_INR; lra.
  - intros n. apply half_mass_bounded, pos_INR.
Qed.

Lemma half_mass_below x : half_mass x < half.
Proof.
  destruct (nfloor_ex (Rabs x) (Rabs_pos x)) as [n [_ Hn]].
  assert (Hx : x < INR (S n)) by (rewrite S_INR; generalize (Rle_abs x); lra).
  apply Rlt_le_trans with (half_mass (INR (S n))); [now apply half_mass_increasing|].
  apply (is_lim_seq_incr_compare (fun n => half_mass (INR n)) half half_is_lim).
  intros k. left. apply half_mass_increasing. rewrite (S_INR k); lra.
Qed.

Lemma half_pos : 0 < half.
Proof. generalize (half_mass_below 0). now rewrite half_mass_0. Qed.

Definition Phi (t : R) : R := 1 / 2 + half_mass t / (2 * half).

Lemma Phi_derive t : is_derive Phi t (bell t / (2 * half)).
Proof.
  unfold Phi. apply (is_derive_ext (fun t => plus (1 / 2) (scal (/ (2 * half)) (half_mass t)))).
  { intros; unfold plus, scal; simpl; unfold mult; simpl. field. generalize half_pos; lra. }
  replace (bell t / (2 * half)) with (plus zero (scal (/ (2 * half)) (bell t)))
    by (unfold plus, scal, zero; simpl; unfold mult; simpl; field; generalize half_pos; lra).
  apply @is_derive_plus; [apply @is_derive_const | apply @is_derive_scal, half_mass_derive].
Qed.

Lemma Phi_increasing a b : a < b -> Phi a < Phi b.
Proof.
  intros H. unfold Phi. generalize (half_mass_increasing a b H) half_pos; intros.
  apply Rplus_lt_compat_l, Rmult_lt_compat_r; auto. apply Rinv_0_lt_compat; lra.
Qed.

Lemma Phi_monotone a b : a <= b -> Phi a <= Phi b.
Proof. intros [H| ->]; [left; now apply Phi_increasing | lra]. Qed.

Lemma Phi_reflect a b : Phi a < Phi b -> a < b.
Proof. intros H. destruct (Rlt_or_le a b) as [|L]; auto. generalize (Phi_monotone b a L); lra. Qed.

Lemma Phi_opp t : Phi (- t) = 1 - Phi t.
Proof. unfold Phi. rewrite half_mass_odd. generalize half_pos; intros. field; lra. Qed.

Lemma Phi_below t : Phi t < 1.
Proof.
  unfold Phi. generalize (half_mass_below t) half_pos; intros.
  assert (half_mass t / (2 * half) < 1 / 2); [|lra].
  apply (Rmult_lt_reg_r (2 * half)); [lra|]. field_simplify; lra.
Qed.

Lemma Phi_above t : 0 < Phi t.
Proof. generalize (Phi_below (- t)). rewrite Phi_opp; lra. Qed.

Lemma Phi_cont t : continuous Phi t.
Proof. apply (ex_derive_continuous Phi). eexists; apply Phi_derive. Qed.

(* Every number of (0, 1) is a value: Phi tends to 1. *)
Lemma Phi_tends n : forall e, 0 < e -> exists t, 1 - e < Phi t /\ INR n <= t.
Proof.
  intros e He. generalize half_pos; intros P.
  assert (Hb : 0 < e * (2 * half)) by nra.
  destruct (proj2 (is_lim_seq_spec _ _) half_is_lim (mkposreal _ Hb)) as [N HN].
  exists (INR (max N n)). split; [|apply le_INR; lia].
  specialize (HN (max N n) ltac:(lia)). simpl in HN. generalize (Rabs_def2 _ _ HN); intros [_ L].
  unfold Phi. apply (Rmult_lt_reg_r (2 * half)); [lra|]. field_simplify; [|lra]. lra.
Qed.

Lemma Phi_onto p : 0 < p < 1 -> exists t, Phi t = p.
Proof.
  intros [H0 H1].
  destruct (Phi_tends 0 (1 - p) ltac:(lra)) as [b [Hb Hb0]].
  destruct (Phi_tends 0 p ltac:(lra)) as [a [Ha Ha0]]. simpl in *.
  assert (Hl : Phi (- a) < p) by (rewrite Phi_opp; lra).
  assert (Hr : p < Phi b) by lra.
  destruct (IVT (fun t => Phi t - p) (- a) b) as [t [_ Ht]].
  - intros x. apply continuity_pt_minus; [apply continuity_pt_filterlim, Phi_cont | apply continuity_const; now intros ? ?].
  - apply Phi_reflect; lra.
  - lra.
  - lra.
  - exists t. lra.
Qed.

(* Below a value there are smaller ones: used where strict inequalities turn around. *)
Lemma Phi_between p t : p < Phi t -> exists u, u < t /\ p <= Phi u.
Proof.
  intros H. destruct (Rle_or_lt p 0) as [L|L].
  - exists (t - 1). split; [lra|]. generalize (Phi_above (t - 1)); lra.
  - destruct (Phi_onto p) as [u <-]; [generalize (Phi_below t); lra|]. exists u. split; [now apply Phi_reflect | lra].
Qed.

(* --- the conversion of Gaussian differential privacy to (epsilon, delta) --- *)

Definition gap (mu eps t : R) : R := Phi (t + mu) - exp eps * Phi t.

(* Balle & Wang 2018, Theorem 8; Dong, Roth & Su 2022, Corollary 2.13 *)
Definition delta (mu eps : R) : R := Phi (- eps / mu + mu / 2) - exp eps * Phi (- eps / mu - mu / 2).

Lemma gap_derive mu eps t :
  is_derive (gap mu eps) t ((bell (t + mu) - exp eps * bell t) / (2 * half)).
Proof.
  generalize half_pos; intros P. unfold gap.
  replace ((bell (t + mu) - exp eps * bell t) / (2 * half))
    with (minus (scal 1 (bell (t + mu) / (2 * half))) (scal (exp eps) (bell t / (2 * half))))
    by (unfold minus, plus, opp, scal; simpl; unfold mult; simpl; field; lra).
  apply @is_derive_minus.
  - apply (is_derive_comp Phi (fun t => t + mu)); [apply Phi_derive|]. auto_derive; [easy | ring].
  - apply @is_derive_scal, Phi_derive.
Qed.

Lemma bell_ratio mu t : bell (t + mu) = exp (- (t * mu) - mu * mu / 2) * bell t.
Proof. unfold bell. rewrite <- exp_plus. f_equal. field. Qed.

Lemma gap_at_most mu eps t : 0 < mu -> gap mu eps t <= delta mu eps.
Proof.
  intros Hmu. set (s := - eps / mu - mu / 2).
  replace (delta mu eps) with (gap mu eps s).
  2: { unfold gap, delta, s. f_equal. f_equal. field; lra. }
  generalize half_pos; intros P.
  assert (K : forall a b, a < b -> exists c, gap mu eps b - gap mu eps a = ((bell (c + mu) - exp eps * bell c) / (2 * half)) * (b - a) /\ a <= c <= b).
  { intros a b Hab. destruct (MVT_gen (gap mu eps) a b (fun c => (bell (c + mu) - exp eps * bell c) / (2 * half))) as [c [Hc E]].
    - intros; apply gap_derive.
    - intros x _. apply continuity_pt_filterlim. apply (ex_derive_continuous (gap mu eps)). eexists; apply gap_derive.
    - rewrite Rmin_left, Rmax_right in Hc by lra. exists c. split; [exact E | exact Hc]. }
  assert (S : forall c, (bell (c + mu) - exp eps * bell c) / (2 * half) = (exp (- (c * mu) - mu * mu / 2) - exp eps) * (bell c / (2 * half))).
  { intros c. rewrite bell_ratio. field; lra. }
  assert (B : forall c, 0 < bell c / (2 * half)).
  { intros c. apply Rdiv_lt_0_compat; [apply bell_pos | lra]. }
  assert (E0 : - (s * mu) - mu * mu / 2 = eps) by (unfold s; field; lra).
  destruct (Rtotal_order t s) as [L|[->|L]]; [| lra |].
  - destruct (K t s L) as [c [E [Hc1 Hc2]]]. rewrite S in E.
    assert (exp eps <= exp (- (c * mu) - mu * mu / 2)).
    { destruct Hc2 as [Hc2| ->]; [|rewrite E0; lra]. left; apply exp_increasing. nra. }
    generalize (B c); intros. assert (0 <= (exp (- (c * mu) - mu * mu / 2) - exp eps) * (bell c / (2 * half))) by (apply Rmult_le_pos; lra).
    nra.
  - destruct (K s t L) as [c [E [Hc1 Hc2]]]. rewrite S in E.
    assert (exp (- (c * mu) - mu * mu / 2) <= exp eps).
    { destruct Hc1 as [Hc1| <-]; [|rewrite E0; lra]. left; apply exp_increasing. nra. }
    generalize (B c); intros. assert (0 <= (exp eps - exp (- (c * mu) - mu * mu / 2)) * (bell c / (2 * half))) by (apply Rmult_le_pos; lra).
    nra.
Qed.

Lemma delta_nonneg mu eps : 0 < mu -> 0 <= delta mu eps.
Proof.
  intros Hmu. destruct (Rle_or_lt 0 (delta mu eps)) as [|L]; auto. exfalso.
  (* the gap tends to 0 far to the left *)
  generalize (exp_pos eps); intros Pe.
  destruct (Phi_tends 0 (- delta mu eps / exp eps)) as [a [Ha _]]; [apply Rdiv_lt_0_compat; lra|].
  generalize (gap_at_most mu eps (- a) Hmu) (Phi_above (- a + mu)). unfold gap. rewrite Phi_opp. intros G A.
  assert (exp eps * (1 - Phi a) < - delta mu eps).
  { apply (Rmult_lt_reg_l (/ exp eps)); [now apply Rinv_0_lt_compat|].
    rewrite <- Rmult_assoc, Rinv_l by lra. unfold Rdiv in Ha. lra. }
  lra.
Qed.

Theorem delta_monotone mu mu' eps : 0 < mu -> mu <= mu' -> delta mu eps <= delta mu' eps.
Proof.
  intros Hmu H.
  apply Rle_trans with (gap mu' eps (- eps / mu - mu / 2)); [|apply gap_at_most; lra].
  unfold gap, delta. apply Rplus_le_compat_r. apply Phi_monotone.
  replace (- eps / mu + mu / 2) with (- eps / mu - mu / 2 + mu) by (field; lra). lra.
Qed.

Theorem delta_antitone mu eps eps' : 0 < mu -> eps <= eps' -> delta mu eps' <= delta mu eps.
Proof.
  intros Hmu H.
  apply Rle_trans with (gap mu eps (- eps' / mu - mu / 2)); [|now apply gap_at_most].
  unfold gap, delta.
  replace (- eps' / mu - mu / 2 + mu) with (- eps' / mu + mu / 2) by (field; lra).
  assert (exp eps <= exp eps') by (destruct H as [H| ->]; [left; now apply exp_increasing | lra]).
  generalize (Phi_above (- eps' / mu - mu / 2)). nra.
Qed.
