import { each } from '../each.ts'
import { findUsers } from '../roster/find-users.ts'
import type { Migration, OurOrganization } from '../ours.ts'
import { refusalOf } from '../roster/target.ts'

/**
 * Verifies the addresses of an organization that ZITADEL has verified. From then on their users can recover a password.
 */
export async function verifyAddresses(migration: Migration, organization: OurOrganization): Promise<void> {
  const { source, target, report, dry } = migration
  let count = 0
  for await (const page of source.users(organization.id)) {
    const verified = page.flatMap(({ userId, username, type }) =>
      type.case === 'human' && type.value.email?.isVerified
        ? [{ userId, username, email: type.value.email.email }]
        : [],
    )
    const found = dry
      ? undefined
      : await findUsers(
          target,
          verified.map(({ userId }) => userId),
        )
    await each(verified, async ({ userId, username, email }) => {
      const user = found?.get(userId)
      // The user that was moved, with the address that was moved.
      const isOurs = user?.organizationId === organization.id && user?.userName === username
      if (found && !(isOurs && user?.human?.email.email === email)) return
      if (user?.human.email.isVerified) return report.there('verified address')
      const path = `/v2/users/${encodeURIComponent(userId)}/email`
      const why = dry ? undefined : await refusalOf(target.ask('POST', path, { email, isVerified: true }))
      if (why === undefined) report.moved('verified address')
      else report.refused('verified address', userId, why)
    })
    report.progress(`addresses of ${(count += page.length)} users of organization ${organization.id}`)
  }
}
