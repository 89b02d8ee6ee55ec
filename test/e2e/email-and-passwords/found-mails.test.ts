import { expect, test } from 'vitest'
import { admin, newHuman, newOrganization, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox } from '../mailbox.ts'

const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

test.skipIf(!hasMailbox())(
  `what the mail server answered to a mail is found by its user, in the own organization alone${mailbox}`,
  async () => {
    const [home, another] = [await newOrganization(), await newOrganization()]
    const { userId } = await newHuman(home, { email: uniqueEmail() })
    const search = async (organization: string): Promise<Record<string, unknown>[]> =>
      (await call('SearchMails', { userId }, admin(organization))).ok.mails
    await expect
      .poll(() => search(home), { timeout: 20_000 })
      .toEqual([expect.objectContaining({ state: 'MAIL_STATE_ACCEPTED', kind: 'email-code', userId })])
    const [mail] = await search(home)
    expect(mail!['reply']).toMatch(/^250 /)
    const { mailId } = mail as { mailId: string }
    expect((await call('GetMail', { mailId }, admin(home))).ok.mail).toEqual(mail)
    expect(await search(another)).toEqual([])
    expect(factsOf(await call('GetMail', { mailId }, admin(another))).reason).toBe('MAIL_NOT_FOUND')
  },
)
