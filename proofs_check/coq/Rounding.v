(* Noisy steps as a machine runs them (`bounds/exact_steps.py`): every step ends on a grid by an exact discrete Gaussian, and all
   that rounding does is that centres are E from the maps over the reals, however they may depend on anything before. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws Shift ClosedForms.
Import ListNotations.
Local Notation Forall := List.Forall.
Open Scope R_scope.

Section Rounding.
Context {I : coordinates} (M : measure).
Notation V := (vec I).

(* A grid: differences of its points, and a way to round to it that moves a vector by at most half of `cell` (h sqrt d). *)
Variables (grid : V -> Prop) (round : V -> V) (cell : R).
Hypotheses (grid_zero : grid vzero) (grid_sub : forall x y, grid x -> grid y -> grid (vsub x y))
  (round_on_grid : forall x, grid (round x)) (round_near : forall x, norm (vsub (round x) x) <= cell / 2).

(* The rounding lemma: a vector u of the grid, of length at most B, splits into two of the grid with lengths a and b where
   a + b = B + h sqrt d. *)
Lemma split_on_grid u B a b : grid u -> norm u <= B -> 0 <= a -> 0 <= b -> a + b = B + cell ->
  exists v, grid v /\ norm v <= a /\ norm (vsub u v) <= b.
Proof.
  intros Gu Hu Ha Hb E.
  destruct (Rle_or_lt (cell / 2) a) as [La|La].
  2: { exists vzero. rewrite norm_zero. repeat split; auto. replace (vsub u vzero) with u by vec_ring. lra. }
  destruct (Rle_or_lt (cell / 2) b) as [Lb|Lb].
  2: { exists u. replace (vsub u u) with (vzero : V) by vec_ring. rewrite norm_zero. repeat split; auto. lra. }
  destruct (split_vector u (a - cell / 2) (b - cell / 2)) as [w [Wa Wb]]; try lra.
  exists (round w). split; [apply round_on_grid|]. split.
  - replace (round w) with (vadd (vsub (round w) w) w) by vec_ring.
    generalize (norm_triangle (vsub (round w) w) w) (round_near w). lra.
  - replace (vsub u (round w)) with (vadd (vsub u w) (vsub w (round w))) by vec_ring.
    generalize (norm_triangle (vsub u w) (vsub w (round w))) (round_near w). rewrite (norm_sub_sym w (round w)). lra.
Qed.

(* Noise on the grid: moved by a vector of the grid it costs |w|^2 / v. For the exact discrete Gaussian of parameter t this is
   an axiom of the interface with v = t^2 in Renyi divergence. In Gaussian DP v = t^2 - 144 h^2, up to a factor 1 + d 10^-1233 of
   probabilities (design sheet "exact steps"), which is not formalised: that is a hypothesis here. *)
Variables (noise : V -> Law V) (v : R).
Hypotheses (v_pos : 0 < v)
  (noise_shift : forall m w, grid w -> bind (noise m) (fun y => ret (vadd y w)) = noise (vadd m w))
  (noise_cost : forall x y a, 0 <= a -> grid (vsub x y) -> norm (vsub x y) <= a -> cost M (a * a / v) (noise x) (noise y)).

(* A machine's step. Its centre is a point of the grid, within E of what the map over the reals gives; it may depend on
   whatever decides the order of a sum, `coin`: any in either world. Coins that are drawn are a mixture over both worlds'
   (`cost_independent_mixtures`). *)
Lemma machine_step c s E (f h : V -> V) {coin : Type} (centre centre' : coin -> V -> V) :
  0 <= c -> (forall x y, norm (vsub (f x) (h y)) <= c * norm (vsub x y) + s) ->
  (forall r x, grid (centre r x) /\ norm (vsub (centre r x) (f x)) <= E) ->
  (forall r y, grid (centre' r y) /\ norm (vsub (centre' r y) (h y)) <= E) ->
  forall r r', moves M c (s + 2 * E + cell) v (fun x => noise (centre r x)) (fun y => noise (centre' r' y)).
Proof.
  intros Hc L Hf Hh r r' x y z a Hz Ha Hr.
  destruct (Hf r x) as [Gf Ef]. destruct (Hh r' y) as [Gh Eh].
  assert (B : norm (vsub (centre r x) (centre' r' y)) <= c * z + s + 2 * E).
  { generalize (norm_sub_triangle (centre r x) (f x) (centre' r' y)) (norm_sub_triangle (f x) (h y) (centre' r' y)) (L x y).
    rewrite (norm_sub_sym (h y) (centre' r' y)).
    assert (c * norm (vsub x y) <= c * z) by now apply Rmult_le_compat_l. lra. }
  destruct (split_on_grid (vsub (centre r x) (centre' r' y)) _ a (c * z + (s + 2 * E + cell) - a) (grid_sub _ _ Gf Gh) B Ha Hr) as [u [Gu [Ua Ub]]].
  { ring. }
  exists (noise (vadd (centre' r' y) u)), (vsub (vsub (centre r x) (centre' r' y)) u). split; [exact Ub|]. split.
  - rewrite noise_shift by (apply grid_sub; auto). f_equal. vec_ring.
  - apply noise_cost; auto; replace (vsub (vadd (centre' r' y) u) (centre' r' y)) with u by vec_ring; auto.
Qed.

End Rounding.

(* --- the closed form: mu(T, K) <= mu_real(T, K; s) + mu_real(T + K, 0; delta), delta = 2E + h sqrt d --- *)

Definition rounded_gaps (s delta : R) (T K : nat) : list R := repeat (s + delta) T ++ repeat delta K.

Lemma rounded_never_rising s delta T K : 0 <= s -> 0 <= delta -> never_rising (rounded_gaps s delta T K).
Proof.
  intros Hs Hd. unfold rounded_gaps.
  assert (Z : never_rising (repeat delta K)).
  { induction K as [|K IH]; simpl; auto. split; [lra|]. split; auto. destruct K; simpl; auto; lra. }
  induction T as [|T IH]; simpl; auto. split; [lra|]. split; auto.
  destruct T; simpl; [destruct K; simpl; auto; lra | lra].
Qed.

Section Closed.
Variable c : R.
Hypothesis c_range : 0 <= c < 1.

Lemma rounded_reach s delta T K :
  reach c 0 (rounded_gaps s delta T K) = reach c 0 (present_then_absent s T K) + reach c 0 (present_then_absent delta (T + K) 0).
Proof.
  unfold rounded_gaps. rewrite reach_app, (reach_repeat c 0 (s + delta)), (reach_repeat c _ delta).
  rewrite !(reach_closed c c_range), !(series_closed c c_range), !pow_add. simpl (c ^ 0). field. lra.
Qed.

Lemma root_of_reach v s T K : 0 < v -> 0 <= s -> (0 < T + K)%nat ->
  sqrt (gdp_squared c s v T K) = reach c 0 (present_then_absent s T K) / sqrt (spread c (T + K) * v).
Proof.
  intros Hv Hs TK.
  assert (P : 0 < spread c (T + K) * v).
  { replace (T + K)%nat with (S (T + K - 1)) by lia. apply Rmult_lt_0_compat; auto. apply spread_pos; lra. }
  assert (R0 : 0 <= reach c 0 (present_then_absent s T K)).
  { apply reach_nonneg; try lra. now apply repeat_never_rising. }
  replace (gdp_squared c s v T K) with (reach c 0 (present_then_absent s T K) * reach c 0 (present_then_absent s T K) / (spread c (T + K) * v)).
  - rewrite sqrt_div_alt by assumption. now rewrite sqrt_square.
  - rewrite (reach_closed c c_range), (spread_closed c c_range). unfold gdp_squared. rewrite (pow_squared c K).
    generalize (pow_below_1 c c_range (2 * (T + K)) ltac:(lia)). intros. field. repeat split; try lra; nra.
Qed.

Theorem exact_steps_cost {I : coordinates} (M : measure) v s delta T K (history : list (@step I)) (rho : Law (vec I)) :
  0 < v -> 0 <= s -> 0 <= delta -> (0 < T + K)%nat -> Forall (valid M) history -> like c v history (rounded_gaps s delta T K) ->
  let mu := sqrt (gdp_squared c s v T K) + sqrt (gdp_squared c delta v (T + K) 0) in
  cost M (mu * mu) (bind rho (run one history)) (bind rho (run two history)).
Proof.
  intros Hv Hs Hd TK H L mu.
  assert (P : 0 < spread c (T + K) * v).
  { replace (T + K)%nat with (S (T + K - 1)) by lia. apply Rmult_lt_0_compat; auto. apply spread_pos; lra. }
  assert (E : mu * mu = reach c 0 (rounded_gaps s delta T K) * reach c 0 (rounded_gaps s delta T K)
      / (spread c (length (rounded_gaps s delta T K)) * v)).
  { unfold mu. rewrite root_of_reach, (root_of_reach v delta (T + K) 0) by (auto; lia). rewrite Nat.add_0_r, rounded_reach.
    unfold rounded_gaps. rewrite app_length, !repeat_length.
    assert (Q : 0 < sqrt (spread c (T + K) * v)) by now apply sqrt_lt_R0.
    rewrite <- (sqrt_sqrt (spread c (T + K) * v)) at 5 by lra. field. lra. }
  apply cost_mixture; [apply Rle_0_sqr|]. intros x. rewrite E.
  apply (shifted_interpolation_best c ltac:(lra) M v history _ x x 0); auto.
  - now apply rounded_never_rising.
  - intros N. apply (f_equal (@length R)) in N. unfold rounded_gaps in N. rewrite app_length, !repeat_length in N. simpl in N. lia.
  - replace (vsub x x) with (vzero : vec I) by vec_ring. rewrite norm_zero; lra.
Qed.

End Closed.

(* The exact discrete Gaussian in Renyi divergence: every hypothesis on the noise is then met. *)
Theorem discrete_step {I : coordinates} q (Hq : 1 < q) (grid : vec I -> Prop) (round : vec I -> vec I) cell t :
  0 < t -> grid vzero -> (forall x y, grid x -> grid y -> grid (vsub x y)) ->
  (forall x, grid (round x)) -> (forall x, norm (vsub (round x) x) <= cell / 2) ->
  forall c s E (f h centre centre' : vec I -> vec I),
  0 <= c -> (forall x y, norm (vsub (f x) (h y)) <= c * norm (vsub x y) + s) ->
  (forall x, grid (centre x) /\ norm (vsub (centre x) (f x)) <= E) ->
  (forall y, grid (centre' y) /\ norm (vsub (centre' y) (h y)) <= E) ->
  valid (renyi_of_order q Hq) {| factor := c; gap_of := s + 2 * E + cell; variance := t * t;
    one := fun x => discrete grid (centre x) t; two := fun y => discrete grid (centre' y) t |}.
Proof.
  intros Ht Gz Gs Rg Rn c s E f h centre centre' Hc L Hf Hh. split; [simpl; nra|]. simpl.
  apply (machine_step (renyi_of_order q Hq) grid round cell Gz Gs Rg Rn (fun m => discrete grid m t) (t * t)
    (fun m w => discrete_shift I grid m w t)
    ) with (f := f) (h := h) (coin := unit) (centre := fun _ => centre) (centre' := fun _ => centre') (r := tt) (r' := tt); auto.
  intros x y a Ha G Hn. simpl. replace (q * (a * a / (t * t)) / 2) with (q * (a * a) / (2 * (t * t))) by (field; lra).
  now apply renyi_discrete.
Qed.
