/**
 * The aggregate that says whether a user, or the users of an organization, count as owners of the instance. Grants
 * gives and takes the role. While it does, they do not count.
 */
export const ownershipType = 'ownership'

export type OwnershipEvent =
  | { type: 'released'; payload: { releaseId: string } }
  | { type: 'restored'; payload: { releaseIds: string[] } }

export interface Ownership {
  /** Those that were not taken back. With any, no user counts. */
  releaseIds: string[]
}

export function evolveOwnership(ownership: Ownership | undefined, { type, payload }: OwnershipEvent): Ownership {
  const { releaseIds } = ownership ?? { releaseIds: [] }
  if (type === 'released') return { releaseIds: [...releaseIds, payload.releaseId] }
  return { releaseIds: releaseIds.filter((id) => !payload.releaseIds.includes(id)) }
}
