import { useMay, useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import type { Needs } from './need.ts'
import { words } from './words.ts'

const most = 5
const method = 'roster.notifier.v1.MailService/SearchMails'

/** Mails that the mail server refused, or that came back: the last one to each person or invitation. */
export function useLostMails(): Needs {
  const mayRead = useMay('user.read')
  const options = { enabled: mayRead === true }
  const refused = useRead(method, { state: 'MAIL_STATE_REFUSED', limit: 20 }, options)
  const bounced = useRead(method, { state: 'MAIL_STATE_BOUNCED', limit: 20 }, options)
  const lost = [...(refused.data?.mails ?? []), ...(bounced.data?.mails ?? [])]
    .filter(({ userId }) => Boolean(userId))
    .toSorted((one, other) => (other.creationDate ?? '').localeCompare(one.creationDate ?? ''))
  const last = [...new Map(lost.toReversed().map((mail) => [mail.userId, mail])).values()].toReversed()
  const about = useRead(
    method,
    { userIds: last.map(({ userId = '' }) => userId), limit: 500 },
    {
      enabled: last.length > 0,
    },
  )
  // One that was sent again, and taken, needs nobody.
  const open = last.filter(({ userId, mailId }) => {
    const newest = about.data?.mails?.find((mail) => mail.userId === userId)
    return !newest || newest.mailId === mailId
  })
  const nameOf = useNames(open.map(({ userId }) => userId))
  const needs = open.slice(0, most).map(({ mailId = '', userId = '', error, bounceReason }) => {
    const name = nameOf(userId)
    const isPerson = name !== userId
    return {
      key: `mail ${mailId}`,
      text: isPerson ? words.mail(name) : words.invitationMail,
      reason: bounceReason || error || '',
      path: isPerson ? `/people/${encodeURIComponent(userId)}/sign-in` : '/invitations?state=pending',
    }
  })
  const isKnown = refused.data && bounced.data && (last.length === 0 || about.data)
  return { mayRead, needs: isKnown && needs, error: refused.error ?? bounced.error ?? about.error }
}
