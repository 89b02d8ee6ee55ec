export type PasskeyEvent =
  | { type: 'passkey.added'; payload: NewPasskey }
  | { type: 'passkey.renamed'; payload: { passkeyId: string; name: string } }
  | { type: 'passkey.removed'; payload: { passkeyId: string } }
  /** A conditionally created passkey has been used with user verification, and counts as two factors from now on. */
  | { type: 'passkey.verified'; payload: { passkeyId: string } }
  /** Its counter did not go forward. */
  | { type: 'passkey.refused'; payload: { passkeyId: string } }
  /** Whoever has the link adds a passkey without a sign-in. */
  | { type: 'passkey.link.created'; payload: { codeId: string; delivery: 'mailed' | 'returned'; expiresAt: string } }

interface NewPasskey extends Omit<Passkey, 'id' | 'createdAt'> {
  passkeyId: string
  /** The code of the link or the invitation that it was made by. */
  codeId?: string
  /** The code for a forgotten password that it was made by, after a second factor. */
  passwordCodeId?: string
}

/** A credential of WebAuthn. Its texts without words are in base64url. */
export interface Passkey {
  id: string
  /** As the person calls it. */
  name: string
  credentialId: string
  /** A COSE key. */
  publicKey: string
  /** What its authenticator knows the user by: random. All of a user have the same, but for those made at once. */
  userHandle: string
  /** The domain that it serves, and no other. */
  rpId: string
  /** The model of its authenticator, as that says. */
  aaguid: string
  transports: string[]
  /** It can be found without the name of its user. Missing: the browser did not say. */
  discoverable?: boolean
  /** A provider may keep copies of it. */
  backupEligible: boolean
  /** It was made as a second factor alone: it opens no session, and the user is asked for it after a password. */
  secondOnly?: boolean
  /**
   * A browser made it without asking the person, and no authenticator has made sure of the person with it yet. It counts for
   * nothing that the person has, until one does.
   */
  conditional?: boolean
  /** Who else may have made it, by a link whose code they saw. */
  setBy?: string
  /** It was made in a session that a link opened which counts for nobody with a role: and nor does it. */
  byLink?: true
  /** RFC 3339. */
  createdAt: string
}

/** Those that open a session. */
export function firstPasskeys(human: { passkeys?: Passkey[] } | undefined): Passkey[] {
  return (human?.passkeys ?? []).filter(({ secondOnly }) => !secondOnly)
}

/**
 * Those that serve here. The others were made for another domain, and serve again where that is set again; or count for nobody
 * with a role.
 */
export function livingPasskeys(
  human: { passkeys?: Passkey[] } | undefined,
  { passkeyRpId, byHandAlone, outgrown }: OfDomain,
): Passkey[] {
  return countingPasskeys(human, { byHandAlone, outgrown }).filter(({ rpId }) => rpId === passkeyRpId)
}

/** Those that count for this person, whatever domain they were made for. */
export function countingPasskeys(
  human: { passkeys?: Passkey[] } | undefined,
  { byHandAlone = false, outgrown = [] }: Omit<OfDomain, 'passkeyRpId'>,
): Passkey[] {
  return (human?.passkeys ?? []).filter(
    ({ byLink, setBy }) => (!byLink || !byHandAlone) && (setBy === undefined || !outgrown.includes(setBy)),
  )
}

/** What a check of a passkey keeps of who else may have made it: sessions by it outlive it. */
export function marksOf({ byLink, setBy }: Pick<Passkey, 'byLink' | 'setBy'>): Pick<Passkey, 'byLink' | 'setBy'> {
  return { ...(byLink && { byLink }), ...(setBy && { setBy }) }
}

/** What says which domain passkeys are made for here, and what counts for the person: a policy. */
export interface OfDomain {
  passkeyRpId: string
  byHandAlone?: boolean | undefined
  outgrown?: readonly string[] | undefined
}

export function evolvePasskeys(passkeys: Passkey[], event: PasskeyEvent, at: Date): Passkey[] {
  switch (event.type) {
    case 'passkey.added': {
      const { passkeyId: id, codeId: _, passwordCodeId: __, ...facts } = event.payload
      return [...passkeys, { id, ...facts, createdAt: at.toISOString() }]
    }
    case 'passkey.renamed': {
      const { passkeyId, name } = event.payload
      return passkeys.map((one) => (one.id === passkeyId ? { ...one, name } : one))
    }
    case 'passkey.verified': {
      const { passkeyId } = event.payload
      return passkeys.map(({ conditional, ...one }) =>
        one.id === passkeyId || !conditional ? one : { ...one, conditional },
      )
    }
    case 'passkey.removed':
      return passkeys.filter(({ id }) => id !== event.payload.passkeyId)
    default:
      return passkeys
  }
}
