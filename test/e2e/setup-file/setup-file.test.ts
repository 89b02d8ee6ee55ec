import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { applyGivenSetup } from '../../../deploy/local/given-setup.ts'
import { runOperator } from '#test/support/operator'
import { call } from '../clients/encodings.ts'
import { admin, ok, unique } from '../../examples/people.ts'

let folder: string
const token = () => join(folder, 'token')
const [acme, partner, shop, back, web, stock, ada, grace, lin, robot] = [
  'acme',
  'partner',
  'shop',
  'back',
  'web',
  'stock',
  'ada',
  'grace',
  'lin',
  'robot',
].map((name) => unique(name)) as [string, string, string, string, string, string, string, string, string, string]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'roster-setup-file-'))
  writeFileSync(token(), inject('roster').adminToken)
})
afterAll(() => rmSync(folder, { recursive: true }))

const password = unique('Password')

/** A file with one of each kind. */
const whole = () => `
organizations:
  - id: ${acme}
    name: ${acme}
    loginPolicy: { allowPasskeys: true, passwordCheckLifetime: 3600s }
    people:
      - { id: ${ada}, userName: ${ada}, firstName: Ada, lastName: Lovelace, email: ${ada}@example.com }
      - id: ${grace}
        userName: ${grace}
        firstName: Grace
        lastName: Hopper
        email: ${grace}@example.com
        isEmailVerified: true
        passwordFrom: { env: GRACE_PASSWORD }
      - id: ${lin}
        userName: ${lin}
        firstName: Lin
        lastName: Li
        email: ${lin}@example.com
        isEmailVerified: true
        passwordFrom: { env: GRACE_PASSWORD }
        passwordChangeRequired: true
    machines:
      - { id: ${robot}, userName: ${robot}, name: Robot, description: "two\\nlines" }
    projects:
      - { id: ${back}, name: Back }
      - id: ${shop}
        name: Shop
        hasProjectCheck: false
        roles:
          - { roleKey: buyer, displayName: Buyer }
          - { roleKey: seller, displayName: Seller, group: staff }
        oidcApplications:
          - id: ${web}
            name: Web shop
            redirectUris: [https://shop.example.com/callback]
            grantTypes: [OIDC_GRANT_TYPE_AUTHORIZATION_CODE, OIDC_GRANT_TYPE_REFRESH_TOKEN]
        apiApplications:
          - { id: ${stock}, name: Stock, authMethodType: API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT }
        grants:
          - { grantedOrgId: ${partner}, roleKeys: [buyer] }
        members:
          - { userId: ${ada}, roles: [PROJECT_OWNER] }
    members:
      - { userId: ${grace}, roles: [ORG_OWNER] }
    userGrants:
      - { userId: ${ada}, projectId: ${shop}, roleKeys: [buyer, seller] }
  - { id: ${partner}, name: ${partner} }
members:
  - { userId: ${grace}, roles: [IAM_OWNER_VIEWER] }
`

async function setup(command: string, text?: string, env: Record<string, string> = { GRACE_PASSWORD: password }) {
  const file = join(folder, `${unique('setup')}.yaml`)
  if (text !== undefined) writeFileSync(file, text)
  const given = text === undefined ? [] : [file]
  const at = ['--url', inject('roster').url, '--token-file', token()]
  const { status, out, err } = await runOperator(['setup', ...command.split(' '), ...given, ...at], env)
  return { status, out, err: err.replaceAll(file, 'FILE') }
}

/** The events of the organization that the administrator caused. */
async function eventsOf(organizationId: string): Promise<number> {
  const filter = { organizationId, actors: ['admin-machine'] }
  const request = { filter, limit: 1000, waitSeconds: 1 }
  return ok(await call('SearchEvents', request, admin())).events.length
}

/** Once none has come for a while: services publish them one after the other. */
async function calmEventsOf(organizationId: string): Promise<number> {
  let [count, before] = [await eventsOf(organizationId), -1]
  while (count !== before) {
    await sleep(500)
    ;[count, before] = [await eventsOf(organizationId), count]
  }
  return count
}

describe('a setup file', () => {
  test('makes one of each kind, says so without a secret, and a second time writes nothing', async () => {
    const plan = await setup('check', whole())
    expect(plan).toMatchObject({ status: 1, err: '' })
    const inJson = (await setup('check --json', whole())).out.trimEnd().split('\n')
    expect(inJson.map((line) => String(JSON.parse(line).change)).toSorted()).toEqual(
      plan.out
        .split('\n')
        .filter((line) => line.endsWith(': is made'))
        .toSorted(),
    )
    expect((await call('GetOrganization', { orgId: acme }, admin())).error).toBeDefined()
    const made = await setup('apply', whole())
    expect(made).toMatchObject({ status: 0, err: '' })
    const lines = (text: string) => text.split('\n').toSorted()
    expect(lines(made.out)).toEqual(lines(plan.out))
    expect(made.out).toContain(`user grant of ${ada} in project ${shop}: is made\n`)
    expect(made.out).not.toContain(password)
    ok(await call('CreateSession', { loginName: grace, password }, { url: inject('roster').url }))
    const halfDone = ok(await call('CreateSession', { loginName: lin, password }, { url: inject('roster').url }))
    expect(halfDone.missingFactors).toContain('AUTHENTICATION_METHOD_TYPE_PASSWORD')
    const { userGrants } = ok(await call('SearchUserGrants', { userId: ada }, admin(acme)))
    expect(userGrants).toMatchObject([{ projectId: shop, roleKeys: ['buyer', 'seller'] }])

    const before = await calmEventsOf(acme)
    expect(before).toBeGreaterThan(10)
    expect(await setup('apply', whole(), {})).toEqual({ status: 0, out: 'Nothing to do.\n', err: '' })
    expect(await calmEventsOf(acme)).toBe(before)
  })

  test('is what an export writes, which changes nothing', async () => {
    const exported = await setup(`export ${acme} ${partner}`)
    expect(exported).toMatchObject({ status: 0, err: '' })
    for (const id of [acme, partner, shop, web, stock, ada, grace, robot])
      expect(exported.out).toMatch(new RegExp(`(id|userId): ${id}$`, 'm'))
    expect(exported.out).toMatch(/^# yaml-language-server: \$schema=setup\.schema\.json$/m)
    // Whoever writes that stands for the address.
    expect(exported.out).not.toContain('isEmailVerified')
    const { organizations } = JSON.parse((await setup(`export --json ${acme} ${partner}`)).out)
    expect(organizations.map(({ id }: { id: string }) => id)).toEqual([acme, partner])
    expect(await setup('check', exported.out, {})).toEqual({ status: 0, out: 'Nothing to do.\n', err: '' })
  })

  test('that is changed sets the fields that it names, shows the former values of things, and removes nothing', async () => {
    const changed = whole()
      .replace('name: Shop', 'name: Web shop')
      .replace('shop.example.com/callback', 'shop.example.com/back')
      .replace('[buyer, seller]', '[seller]')
      .replace('[ORG_OWNER]', '[ORG_USER_MANAGER]')
      .replace('3600s', '1800s')
      .replace('Lovelace', 'King')
      .replace(`email: ${ada}@`, `email: ${ada}-2@`)
      .replace(/^ +- \{ roleKey: seller.*\n/m, '')
      .replace(/^ {4}machines:\n.*\n/m, '')
    const { status, out, err } = await setup('apply', changed, {})
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(out.split('\n').toSorted()).toEqual(
      [
        '',
        '6 changes.',
        `OIDC application ${web}: redirectUris: ["https://shop.example.com/callback"] becomes ["https://shop.example.com/back"]`,
        `login policy of ${acme}: passwordCheckLifetime: "3600s" becomes "1800s"`,
        `member ${grace} of the organization: roles: ["ORG_OWNER"] becomes ["ORG_USER_MANAGER"]`,
        `person ${ada}: lastName is set`,
        `project ${shop}: name: "Shop" becomes "Web shop"`,
        `user grant of ${ada} in project ${shop}: roleKeys: ["buyer","seller"] becomes ["seller"]`,
      ].toSorted(),
    )
    const { user } = ok(await call('GetUser', { userId: ada }, admin(acme)))
    expect(user.human).toMatchObject({ profile: { lastName: 'King' }, email: { email: `${ada}@example.com` } })
    ok(await call('GetUser', { userId: robot }, admin(acme)))
    const { roles } = ok(await call('SearchProjectRoles', { projectId: shop }, admin(acme)))
    expect(roles.map(({ key }: { key: string }) => key)).toEqual(['buyer', 'seller'])
    const { policy } = ok(await call('GetLoginPolicy', {}, admin(acme)))
    expect(policy).toMatchObject({ allowPasskeys: true, passwordCheckLifetime: '1800s' })
  })

  test('that contradicts is refused in one sentence each, with its line, and nothing is written', async () => {
    const other = unique('other')
    const person = 'firstName: A, lastName: B, email: a@example.com'
    const text = `organizations:
  - id: ${other}
    name: Other
    people:
      - { id: ${robot}, userName: a, ${person} }
    projects:
      - { id: ${back}, name: S }
    userGrants:
      - { userId: nobody, projectId: ${other}, roleKeys: [a] }
  - id: ${acme}
    name: Acme
    people:
      - { id: ${unique('may')}, userName: ${grace}, ${person}, passwordFrom: { env: NOT_SET } }
    machines:
      - { id: ${ada}, userName: imp, name: A }
    projects:
      - id: ${shop}
        name: Shop
        apiApplications:
          - { id: ${web}, name: X }
          - { id: ${stock}, name: Stock, clientId: another }
        grants:
          - { grantId: another, grantedOrgId: ${partner}, roleKeys: [nobody] }
`
    const { status, out, err } = await setup('apply', text)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    const faults = err.trimEnd().split('\n')
    expect(faults.map((line) => line.replace(/^FILE:(\d+): \S+: /, '$1 '))).toEqual([
      `5 a user of the organization ${acme} has or had this id, and no id is given twice`,
      `7 a project of the organization ${acme} has or had this id, and no id is given twice`,
      `9 there is no project ${other}, neither in the file nor in Roster`,
      `9 there is no role a of project ${other}, neither in the file nor in Roster`,
      '9 there is no user nobody, neither in the file nor in Roster',
      `13 another user has the name ${grace}`,
      '13 the variable NOT_SET is not set',
      '15 this user is a person',
      '20 this application is of the other type',
      '21 an application keeps its clientId',
      expect.stringMatching(/^23 there is no role nobody of project /),
      expect.stringMatching(/^23 this grant has the id /),
    ])
    expect((await call('GetOrganization', { orgId: other }, admin())).error).toBeDefined()
  })

  test('names in one sentence each what has the client id of an application, also in another organization', async () => {
    const person = 'firstName: A, lastName: B, email: a@example.com'
    const [fresh, kate] = [unique('fresh'), unique('kate')]
    const text = `organizations:
  - id: ${partner}
    name: ${partner}
    people:
      - { id: ${kate}, userName: ${kate}, ${person} }
    projects:
      - id: ${unique('more')}
        name: More
        apiApplications:
          - { id: ${unique('a')}, name: A, clientId: ${stock} }
          - { id: ${unique('b')}, name: B, clientId: ${robot} }
          - { id: ${unique('c')}, name: C, clientId: ${kate} }
          - { id: ${unique('d')}, name: D, clientId: ${fresh} }
          - { id: ${unique('e')}, name: E, clientId: ${fresh} }
`
    const { status, out, err } = await setup('check', text)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    const faults = err.trimEnd().split('\n')
    expect(faults.map((line) => line.replace(/^FILE:(\d+): \S+: the API application \S+ cannot have /, '$1 '))).toEqual(
      [
        `10 the client id ${stock}: the application ${stock} of the project ${shop} of the organization ${acme} has or had it`,
        `11 the client id ${robot}: a user of the organization ${acme} has it as its id`,
        `12 the client id ${kate}: the person ${kate} of the file has it as its id`,
        expect.stringMatching(
          `^13 the client id ${fresh}: more than one application of the file has it, the first at FILE:13`,
        ),
        expect.stringMatching(
          `^14 the client id ${fresh}: more than one application of the file has it, the first at FILE:13`,
        ),
      ],
    )
  })

  test('goes on without a person who was removed, and warns of each line that names them', async () => {
    ok(await call('DeleteUser', { userId: ada }, admin(acme)))
    const added = unique('more')
    const text = whole().replace(`- { id: ${back}, name: Back }`, `$&\n      - { id: ${added}, name: More }`)
    const line = (part: string) => text.slice(0, text.indexOf(part)).split('\n').length
    const warnings = [
      `${line(`id: ${ada}`)}: organizations[0].people[0]: the person ${ada} was removed, and stays so: delete these lines`,
      `${line('[PROJECT_OWNER]')}: organizations[0].projects[2].members[0]: the user ${ada} was removed, and stays so: delete these lines`,
      `${line('[buyer, seller]')}: organizations[0].userGrants[0]: the user ${ada} was removed, and stays so: delete these lines`,
    ]
    for (const [command, change] of [
      ['check', `project ${added}: is made\n`],
      ['apply', `project ${added}: is made\n`],
      ['apply', ''],
    ] as const) {
      const { out, err } = await setup(command, text, {})
      expect(err).toBe('')
      expect(
        out
          .split('\n')
          .filter((said) => said.startsWith('warning: '))
          .map((said) => said.replace(/^warning: \S+\.yaml:/, '')),
      ).toEqual(warnings)
      expect(out).toContain(change)
    }
    ok(await call('GetProject', { projectId: added }, admin(acme)))
    expect((await call('GetUser', { userId: ada }, admin(acme))).error).toBeDefined()
  })

  test('is applied by each start: made, nothing, what changed; and one that contradicts stops no start', async () => {
    const [id, other] = [unique('started'), unique('other')]
    const file = join(folder, `${id}.yaml`)
    const started = async (text: string) => {
      writeFileSync(file, text)
      const said: string[] = []
      const keep = (line: string) => void said.push(line.replaceAll(file, 'FILE'))
      const spies = (['log', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(keep))
      // What npm start does once its services are ready.
      const house = { url: inject('roster').url, adminTokenFile: token() }
      await applyGivenSetup({ ROSTER_SETUP: file }, house).finally(() => spies.forEach((spy) => spy.mockRestore()))
      return said
    }
    const text = `organizations:\n  - { id: ${id}, name: ${id} }\n`
    expect(await started(text)).toEqual([`setup: organization ${id}: is made`, 'setup: 1 change'])
    expect(await started(text)).toEqual(['setup: nothing to do'])
    expect(await started(text.replace(`name: ${id}`, `name: ${id}-2`))).toEqual([
      `setup: organization ${id}: name: "${id}" becomes "${id}-2"`,
      'setup: 1 change',
    ])
    const wrong = `${text}    projects: [{ id: ${shop}, name: Shop }]\n  - { id: ${other}, name: Other }\n`
    expect(await started(wrong.replace(' }\n    projects', ', projects').replace('}]\n', '}] }\n'))).toEqual([
      `The setup file is not applied:\nFILE:2: organizations[0].projects[0]: a project of the organization ${acme} has or had this id, and no id is given twice`,
      'The services run without it. Mend it, and apply it by: npm run roster -- setup apply',
    ])
    const { organization } = ok(await call('GetOrganization', { orgId: id }, admin()))
    expect(organization.name).toBe(`${id}-2`)
    expect((await call('GetOrganization', { orgId: other }, admin())).error).toBeDefined()
  })
})
