/** A membership or a grant was taken from its user. */
export type Removed = { type: 'removed'; payload: { userId: string } }
