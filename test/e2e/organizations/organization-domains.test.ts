import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, profile, unique } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { kinds } from '../zitadel/clients.ts'
import { hasMailbox, mailsTo } from '../mailbox.ts'

const { house, url } = inject('roster')
const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
const slow = { timeout: 30_000, interval: 200 }
const patient = { timeout: 15_000, interval: 100 }
// Five failures of one name, up to its @, shut it for a minute.
const rarely = { ...patient, interval: 1500 }
type Caller = { token: string; organization?: string | undefined }
interface Domain {
  domain: string
  state: string
  recordName: string
  recordValue: string
  verificationDate?: string
  lostDate?: string
}

/** Publishes texts in the name server that the house asks. None: the name is gone. */
function publish(name: string, texts?: string[]): void {
  const file = house!.recordsFile
  const { [name]: _, ...others } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>
  writeFileSync(`${file}.new`, JSON.stringify(texts ? { ...others, [name]: texts } : others))
  renameSync(`${file}.new`, file)
}

const anyAt = (domain: string) => `${unique('a')}@${domain}`
const newDomain = () => `${unique('d')}.example`
const newOwner = async (): Promise<Caller & { id: string; email: string }> => {
  const id = await newOrganization()
  return { ...(await newMember(id, ['ORG_OWNER'])), id }
}
const listed = async (owner: Caller): Promise<Domain[]> =>
  ok(await json('ListOrganizationDomains', {}, owner)).domains ?? []

/** A domain that the organization proved, and its record. */
async function proved(owner: Caller, domain = newDomain()): Promise<Domain> {
  const added = ok(await json('AddOrganizationDomain', { domain }, owner)).domain as Domain
  publish(added.recordName, [added.recordValue])
  ok(await json('VerifyOrganizationDomain', { domain }, owner))
  return added
}

/** Somebody with this address, by the word of a manager of the organization alone. */
async function worded(organization: string, manager: Caller, email: string) {
  const [userName, password] = [unique('human'), unique('Password')]
  const request = { userName, password, profile, email: { email, verification: { isVerified: true } } }
  const { userId } = ok(await json('AddHumanUser', { ...request, email: { email, isVerified: true } }, manager))
  return { userId, userName, password, email, organization }
}

const signsIn = async ({ email, password }: { email: string; password: string }) =>
  reason(await json('CreateSession', { loginName: email, password }))

describe.skipIf(!house).each(over('connect'))('domains of organizations, over $encoding', ({ call }) => {
  let owner: Caller & { id: string; email: string }
  let other: Caller & { id: string }
  beforeAll(async () => {
    ;[owner, other] = await Promise.all([newOwner(), newOwner()])
  })

  test('a domain is verified by its record alone, and the answer says what is there instead', async () => {
    const domain = newDomain()
    const verify = (caller: Caller = owner) => call('VerifyOrganizationDomain', { domain }, caller)
    const { domain: added } = ok(await call('AddOrganizationDomain', { domain }, owner)) as { domain: Domain }
    expect(added).toMatchObject({ domain, state: 'ORGANIZATION_DOMAIN_STATE_UNVERIFIED' })
    expect(added.recordName).toBe(`_roster-challenge.${domain}`)
    expect(added.recordValue).toMatch(/^[\w-]{43}$/)
    expect(reason(await call('AddOrganizationDomain', { domain }, owner))).toBe('ORGANIZATION_DOMAIN_EXISTS')
    expect(await verify()).toMatchObject({ error: { message: expect.stringContaining('There is no name') } })
    publish(added.recordName, ['v=spf1 -all', `${added.recordValue}x`])
    const refused = await verify()
    expect(factsOf(refused)).toMatchObject({ code: 9, reason: 'ORGANIZATION_DOMAIN_NOT_PROVED' })
    expect(refused).toMatchObject({ error: { message: expect.stringContaining('"v=spf1 -all"') } })
    // The value of another organization proves nothing, and the record below another name neither.
    const foreign = ok(await call('AddOrganizationDomain', { domain }, other)).domain as Domain
    expect(foreign.recordValue).not.toBe(added.recordValue)
    publish(domain, [added.recordValue])
    publish(added.recordName, [foreign.recordValue])
    expect(reason(await verify())).toBe('ORGANIZATION_DOMAIN_NOT_PROVED')
    publish(added.recordName, ['v=spf1 -all', added.recordValue])
    const verified = ok(await verify())
    expect(await listed(owner)).toContainEqual(
      expect.objectContaining({ domain, state: 'ORGANIZATION_DOMAIN_STATE_VERIFIED' }),
    )
    expect(ok(await verify())).toEqual(verified)
    expect(reason(await verify(await newMember(owner.id, ['ORG_OWNER_VIEWER'])))).toBe('PERMISSION_DENIED')
    expect(reason(await call('RemoveOrganizationDomain', { domain: newDomain() }, owner))).toBe(
      'ORGANIZATION_DOMAIN_NOT_FOUND',
    )
  })

  test('one organization holds a verified domain, in every spelling, and no answer names it', async () => {
    const domain = `bücher-${unique('d')}.example`
    const added = await proved(owner, domain)
    expect(added.domain).toMatch(/^xn--bcher-[a-z0-9-]+\.example$/)
    for (const spelling of [domain.toUpperCase(), `${added.domain}.`, added.domain.toUpperCase()]) {
      const again = ok(await call('AddOrganizationDomain', { domain: spelling }, other)).domain as Domain
      expect(again.domain).toBe(added.domain)
      publish(again.recordName, [again.recordValue, added.recordValue])
      const refused = await call('VerifyOrganizationDomain', { domain: spelling }, other)
      expect(factsOf(refused)).toMatchObject({ code: 6, reason: 'ORGANIZATION_DOMAIN_TAKEN' })
      expect(JSON.stringify(refused)).not.toContain(owner.id)
      ok(await call('RemoveOrganizationDomain', { domain: spelling }, other))
    }
    expect(reason(await call('ConfirmOrganizationDomain', { orgId: other.id, domain }, admin()))).toBe(
      'ORGANIZATION_DOMAIN_TAKEN',
    )
    // Nor does another organization get it as the end of its login names.
    expect(reason(await call('SetPrimaryDomain', { domain: added.domain }, admin(other.id)))).toBe(
      'ORGANIZATION_DOMAIN_TAKEN',
    )
    const primary = newDomain()
    ok(await call('SetPrimaryDomain', { domain: primary }, admin(owner.id)))
    const claimed = ok(await call('AddOrganizationDomain', { domain: primary }, other)).domain as Domain
    publish(claimed.recordName, [claimed.recordValue])
    expect(reason(await call('VerifyOrganizationDomain', { domain: primary }, other))).toBe('ORGANIZATION_DOMAIN_TAKEN')
  })

  test('of two organizations that get a domain at once, one verified and one as its primary one, one has it', async () => {
    const [first, second] = await Promise.all([newOrganization(), newOrganization()])
    for (const _ of Array(8)) {
      const domain = newDomain()
      const answers = await Promise.all([
        call('ConfirmOrganizationDomain', { orgId: first, domain }, admin()),
        call('SetPrimaryDomain', { domain }, admin(second)),
      ])
      expect(answers.map(reason).toSorted()).toEqual(['ORGANIZATION_DOMAIN_TAKEN', 'ok'])
    }
  })

  test('an address of a verified domain is proved by the word of its organization, until another one has it', async () => {
    const domain = newDomain()
    const person = await worded(owner.id, owner, anyAt(domain.toUpperCase()))
    const stranger = await worded(other.id, other, anyAt(domain))
    const elsewhere = await worded(owner.id, owner, anyAt(`sub.${domain}`))
    expect(await signsIn(person)).toBe('CREDENTIALS_INVALID')
    await proved(owner, domain)
    await vi.waitFor(async () => expect(await signsIn(person)).toBe('ok'), rarely)
    // Neither another organization's people, nor names below the domain.
    expect([await signsIn(stranger), await signsIn(elsewhere)]).toEqual(Array(2).fill('CREDENTIALS_INVALID'))
    ok(await call('RemoveOrganizationDomain', { domain }, owner))
    await vi.waitFor(async () => expect(await signsIn(person)).toBe('CREDENTIALS_INVALID'), rarely)
    const foreign = await proved(other, domain)
    await vi.waitFor(async () => expect(await signsIn(stranger)).toBe('ok'), rarely)
    expect(await signsIn(person)).toBe('CREDENTIALS_INVALID')
    // Added again, the former one has another value to publish, and gets nothing.
    const again = ok(await call('AddOrganizationDomain', { domain }, owner)).domain as Domain
    publish(again.recordName, [again.recordValue, foreign.recordValue])
    expect(reason(await call('VerifyOrganizationDomain', { domain }, owner))).toBe('ORGANIZATION_DOMAIN_TAKEN')
  })

  test('who proved the address by a code before the organization proved the domain keeps it', async () => {
    const domain = newDomain()
    const email = anyAt(domain)
    // Somebody whose word counts everywhere says so: as if a code had come.
    const first = await newHuman(other.id, { email, password: unique('Password') })
    const person = await worded(owner.id, owner, email)
    await vi.waitFor(async () => expect(await signsIn(first as never)).toBe('ok'), rarely)
    await proved(owner, domain)
    const beside = await worded(owner.id, owner, anyAt(domain))
    await vi.waitFor(async () => expect(await signsIn(beside)).toBe('ok'), rarely)
    expect([await signsIn(first as never), await signsIn(person)]).toEqual(['ok', 'CREDENTIALS_INVALID'])
  })

  test('a lost record ends the trust after some days, and ends nothing where it is back in time', async () => {
    const { domain, recordName, recordValue } = await proved(owner)
    const person = await worded(owner.id, owner, anyAt(domain))
    const state = async () => (await listed(owner)).find((one) => one.domain === domain)!.state.slice(26)
    await vi.waitFor(async () => expect(await signsIn(person)).toBe('ok'), rarely)
    publish(recordName)
    await vi.waitFor(async () => expect(await state()).toBe('LOST'), patient)
    expect(await signsIn(person)).toBe('ok')
    publish(recordName, [recordValue])
    await vi.waitFor(async () => expect(await state()).toBe('VERIFIED'), patient)
    publish(recordName)
    await vi.waitFor(async () => expect(await state()).toBe('UNVERIFIED'), patient)
    await vi.waitFor(async () => expect(await signsIn(person)).toBe('CREDENTIALS_INVALID'), rarely)
    if (hasMailbox())
      await vi.waitFor(async () => {
        const texts = (await mailsTo(owner.email)).map(({ text }) => text).filter((text) => text.includes(domain))
        expect(texts.join()).toContain('is not verified any more')
      }, slow)
    publish(recordName, [recordValue])
    await vi.waitFor(async () => expect(await state()).toBe('VERIFIED'), patient)
    await vi.waitFor(async () => expect(await signsIn(person)).toBe('ok'), rarely)
  })

  test('ZITADEL’s clients add a domain, get its record, verify, list and remove it', async () => {
    const { id, token } = await newOwner()
    const { management } = kinds[0]!.connect(url, token, id) as { management: Record<string, any> }
    const domain = newDomain()
    await management['addOrgDomain']({ domain })
    // By DNS, and there is no other way.
    const { token: value, url: name } = await management['generateOrgDomainValidation']({ domain, type: 2 })
    const [own] = await listed({ token })
    expect([name, value]).toEqual([own!.recordName, own!.recordValue])
    publish(name, [value])
    await management['validateOrgDomain']({ domain })
    const found = await management['listOrgDomains']({})
    expect(found.result).toMatchObject([{ orgId: id, domainName: domain, isVerified: true, isPrimary: false }])
    await management['removeOrgDomain']({ domain })
    expect(await listed({ token })).toEqual([])
  })

  test('GetOrganizationDomain has one domain in any spelling, and a list can be of one', async () => {
    const domain = newDomain()
    ok(await call('ConfirmOrganizationDomain', { orgId: owner.id, domain }, admin()))
    const one = ok(await call('GetOrganizationDomain', { domain: `${domain.toUpperCase()}.` }, owner)).domain
    expect(one).toMatchObject({ domain, organizationId: owner.id, isVerified: true })
    const { domains } = ok(await call('ListOrganizationDomains', { domain }, owner))
    expect(domains).toEqual([one])
    expect(reason(await call('GetOrganizationDomain', { domain }, other))).toBe('ORGANIZATION_DOMAIN_NOT_FOUND')
  })

  test('an administrator of the instance verifies one without DNS, and a removed organization has none', async () => {
    const { id, token } = await newOwner()
    const domain = newDomain()
    const confirm = (orgId: string, caller: Caller) => call('ConfirmOrganizationDomain', { orgId, domain }, caller)
    expect(reason(await confirm(id, { token }))).toBe('PERMISSION_DENIED')
    const { details } = ok(await confirm(id, admin()))
    expect(ok(await confirm(id, admin())).details).toEqual(details)
    expect(await listed({ token })).toMatchObject([{ domain, state: 'ORGANIZATION_DOMAIN_STATE_CONFIRMED' }])
    expect(reason(await confirm(other.id, admin()))).toBe('ORGANIZATION_DOMAIN_TAKEN')
    ok(await call('RemoveOrganization', { orgId: id }, admin()))
    ok(await confirm(other.id, admin()))
  })

  test('an organization has fifty domains, and has ten of them looked up a minute', async () => {
    const { id, token } = await newOwner()
    const domains = Array.from({ length: 50 }, newDomain)
    await Promise.all(domains.map(async (domain) => ok(await call('AddOrganizationDomain', { domain }, { token }))))
    const full = await call('AddOrganizationDomain', { domain: newDomain() }, { token })
    expect(factsOf(full)).toMatchObject({ code: 8, reason: 'LIMIT_REACHED' })
    expect(reason(await call('ConfirmOrganizationDomain', { orgId: id, domain: newDomain() }, admin()))).toBe(
      'LIMIT_REACHED',
    )
    const tries = await Promise.all(
      domains.slice(0, 11).map((domain) => call('VerifyOrganizationDomain', { domain }, { token })),
    )
    expect(tries.map(reason).toSorted()).toEqual([
      'DOMAIN_CHECKS_THROTTLED',
      ...Array(10).fill('ORGANIZATION_DOMAIN_NOT_PROVED'),
    ])
  })
})
