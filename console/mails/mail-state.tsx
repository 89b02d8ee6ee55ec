import type { NotifierMail } from '#gen/console/api'
import { mailStates } from './words.ts'

/** What became of a mail, and why where it did not arrive. */
export function MailState({ mail: { state = 'MAIL_STATE_UNSPECIFIED', error, bounceReason } }: { mail: NotifierMail }) {
  const reason = bounceReason || error
  return (
    <>
      <span class={`tag ${mailStates[state]?.tone ?? ''}`}>{mailStates[state]?.text ?? state}</span>
      {reason && <small class="line-below">{reason}</small>}
    </>
  )
}
