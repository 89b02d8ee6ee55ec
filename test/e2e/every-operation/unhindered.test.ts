import { expect, test } from 'vitest'

import { newClient, sendForm } from '../../examples/oauth.ts'
import { admin, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { grantProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'

// What a stranger or another organization asks for, and fills, keeps no one else out.

test('very many new pairs of keys at once, of a machine without a role: most are refused, and people sign in', async () => {
  const [home, hostile] = [await newOrganization(), await newOrganization()]
  const human = await newHuman(home, { password: unique('Password') })
  const { userId } = ok(await call('AddMachineUser', { userName: unique('machine'), name: 'M' }, admin(hostile)))
  const { token } = ok(
    await call('AddPersonalAccessToken', { userId, expirationDate: '2100-01-01T00:00:00Z' }, admin(hostile)),
  )
  const flood = Array.from(
    { length: 120 },
    async () => factsOf(await call('AddMachineKey', { userId }, { token })).reason,
  )
  await signIn(human)
  const reasons = await Promise.all(flood)
  // One is made at a time, and fifty wait. So threads are left for passwords, whatever one organization asks for.
  expect(reasons).toContain('KEYS_THROTTLED')
  expect(reasons.filter((reason) => reason === undefined).length).toBeLessThanOrEqual(20)
})

test.skipIf(!hasMailbox())(
  `mails that another organization sends to an address: its user still recovers a forgotten password${hasMailbox() ? '' : ' (skipped: no mailbox)'}`,
  async () => {
    const [home, hostile] = [await newOrganization(), await newOrganization()]
    const human = await newHuman(home, { password: unique('Password') })
    const add = () =>
      call(
        'AddHumanUser',
        { userName: unique('other'), profile: { firstName: 'A', lastName: 'B' }, email: { email: human.email } },
        admin(hostile),
      )
    for (let n = 0; n < 5; n++) ok(await add())
    expect(factsOf(await add()).reason).toBe('MAILS_THROTTLED')
    await mailTo(human.email, 5)
    ok(await call('RequestPasswordReset', { loginName: human.userName }))
    await expect.poll(() => mailCount(human.email), { timeout: 20_000 }).toBe(6)
  },
)

test('long roles that other organizations give: the owner of the project still sees its own, and a token has them', async () => {
  const home = await newOrganization()
  const client = await newClient({ organization: home })
  const longKeys = Array.from({ length: 100 }, (_, n) => `${String(n).padStart(3, '0')}${'\u{1F511}'.repeat(98)}`)
  const { id: projectId } = ok(await call('AddProject', { name: unique('Project') }, admin(home)))
  const roles = [...longKeys, 'mine'].map((key) => ({ key, displayName: 'R' }))
  ok(await call('BulkAddProjectRoles', { projectId, roles }, admin(home)))
  const give = async (organization: string, roleKeys: string[]) =>
    ok(await call('AddUserGrant', { userId: client.userId, projectId, roleKeys }, admin(organization)))
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      const hostile = await newOrganization()
      await grantProject(home, projectId, hostile, longKeys)
      await give(hostile, longKeys)
    }),
  )
  await give(home, ['mine'])
  const { roleKeys, grants } = ok(await call('ListUserRoles', { projectId, userId: client.userId }, admin(home)))
  expect(grants[0]).toMatchObject({ organizationId: home, roleKeys: ['mine'] })
  expect(roleKeys).toHaveLength(101)
  const form = { grant_type: 'client_credentials', client_id: client.userId, client_secret: client.secret }
  const { body } = await sendForm('/oauth/v2/token', { ...form, scope: `project:${projectId}` })
  expect(body).toMatchObject({ access_token: expect.any(String) })
})
