import { mailsWithoutEvent, type MailWithoutEvent } from '#lib/events/hints'
import type { Nats } from '#lib/nats/connect-nats'

/** Tells the notifiers of a mail that has no event. */
export function announceMail({ connected, connection }: Nats, mail: MailWithoutEvent): void {
  // While NATS is away, nobody hears it. Then their sweep finds the mail.
  if (connected()) connection.publish(mailsWithoutEvent, JSON.stringify(mail))
}
