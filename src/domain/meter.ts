/**
 * What a call costs, and how that is known.
 *
 * - `unit`: v1. One unit a success, or more where the headers say so; a failure is free (V1-1).
 * - `report`: one credit report. After any failure the charge is unknown, and it is not repeated without a look (V2-17).
 * - `not_told`: the rest of v2. The document gives no prices: a success counts as charged, a failure is unknown.
 * - `free`: what the document says, or lets us take, to cost nothing: re-opening a report, asking how things stand.
 */
export type Meter = 'unit' | 'report' | 'not_told' | 'free';
