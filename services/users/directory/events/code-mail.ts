import type { Code } from './code.ts'

/**
 * The aggregate of the mails with a user's codes, by the user's id. It is apart from the user, so that the user's
 * sequence moves only when the user changes. Otherwise the ETag of SetEmail would be stale as soon as its mail is out.
 * The dots keep the published event types of the time when these were events of the user:
 * `roster.user.email.code.sent.v1`.
 */
export const codeMailType = 'user.email.code'

/** The events of the mails with a user's codes. */
export type CodeMailEvent =
  | { type: 'sent'; payload: { codeId: string } }
  | { type: 'failed'; payload: { codeId: string; failure: string } }

/** The last code whose mail was sent or failed. */
export interface CodeMail {
  codeId: string
  delivery: CodeMailEvent['type']
}

/** The last mail after an event. A code that was replaced never comes back, so earlier mails need no memory. */
export function evolveCodeMail(_: unknown, { type, payload: { codeId } }: CodeMailEvent): CodeMail {
  return { codeId, delivery: type }
}

/** Whether the user's code is the one of this id, and its mail was neither sent nor given up. */
export function awaitsMail(code: Code | undefined, codeId: string, mail: CodeMail | undefined): code is Code {
  return code?.codeId === codeId && code.delivery === 'pending' && mail?.codeId !== codeId
}
