import { type RegistrationMail, registrationMails } from '#lib/events/hints'
import type { Nats } from '#lib/nats/connect-nats'

/** Tells the notifiers of a mail that has no event. */
export function announceMail({ connected, connection }: Nats, mail: RegistrationMail): void {
  // While NATS is away, nobody hears it. Then their sweep finds the mail.
  if (connected()) connection.publish(registrationMails, JSON.stringify(mail))
}
