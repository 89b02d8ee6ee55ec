/** Where a word on an address counts beyond the organization of the person. */
export type VouchedOn = 'instance'

/** The facts of a code. The code itself is derived from them, the user and the address. */
export interface NewCode {
  codeId: string
  keyId: string
  /** RFC 3339. */
  expiresAt: string
  /**
   * The other user who sees the code: it was returned to them, or mailed in a link of theirs. The user itself where the
   * link leads to a host that only callers with permission may name.
   */
  askedBy?: string
}

export interface Code extends NewCode {
  /** `returned`: the caller has it. `sent` and `failed` are of earlier versions: today `CodeMail` has them. */
  delivery: 'returned' | 'pending' | 'sent' | 'failed'
  urlTemplate?: string
  wrongTries: number
}

/** Why a code is mailed. Only `own-change` and `resend` are counted. */
export type CodeCause = 'creation' | 'change' | 'own-change' | 'resend' | 'invitation'

/** This many wrong tries end a code. */
export const maxWrongTries = 5

/** Whether the code can still verify. */
export function isAlive(code: Code | undefined, now: Date): code is Code {
  return code !== undefined && code.wrongTries < maxWrongTries && Date.parse(code.expiresAt) > now.getTime()
}
