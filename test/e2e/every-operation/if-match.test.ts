import { describe, expect, test, vi } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const organization = newOrganization()

describe.each(over('grpc-web'))('ETag and If-Match over $encoding', ({ call }) => {
  test('answers carry the sequence of their object, and a change may be bound to it', async () => {
    const { userId } = await newHuman(await organization, { verification: { isVerified: true } })
    const read = await call('GetUser', { userId }, admin(await organization))
    const etag = read.headers['etag']!
    expect(etag).toBe(`"${ok(read).user.details.sequence}"`)
    const bound = (match: string) => organization.then((id) => ({ ...admin(id), headers: { 'if-match': match } }))
    const changed = await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, await bound(etag))
    expect(changed.headers['etag']).toBe(`"${ok(changed).details.sequence}"`)

    const stale = await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, await bound(etag))
    expect(factsOf(stale)).toMatchObject({
      code: 9,
      reason: 'SEQUENCE_MISMATCH',
      metadata: { sequence: ok(changed).details.sequence },
    })
    if (stale.http) expect([412, 200]).toContain(stale.http)
    ok(await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, await bound('*')))
  })

  test('a list of ETags matches where one strong one does; a weak one and one of others match nothing', async () => {
    const { userId } = await newHuman(await organization, { verification: { isVerified: true } })
    const read = async () => (await call('GetUser', { userId }, admin(await organization))).headers['etag']!
    const set = async (name: string, value: string) => {
      const options = { ...admin(await organization), headers: { [name]: value } }
      return call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, options)
    }
    const own = await read()
    for (const stale of [`W/${own}`, '"x"', `"0${own.slice(1)}`, '"a,b" ,W/"9"'])
      expect(factsOf(await set('if-match', stale)).reason).toBe('SEQUENCE_MISMATCH')
    for (const fresh of [(own: string) => `"999", ${own}`, (own: string) => `, W/"9",${own} ,"a,b"`])
      ok(await set('if-match', fresh(await read())))
    const many = (count: number) => Array(count).fill('"999"').join()
    ok(await set('if-match', `${many(19)},${await read()}`))
    for (const malformed of [many(21), '"3" "4"', '"3", *', '"3', 'w/"3"', ','])
      expect(factsOf(await set('if-match', malformed))).toMatchObject({ reason: 'IF_MATCH_MALFORMED' })
  })

  test('If-None-Match refuses a change of what it names, and what makes an object does not read it', async () => {
    const [as, projectId] = [admin(await organization), await newProject(await organization)]
    const add = (roleKey: string, headers = {}) =>
      call('AddProjectRole', { projectId, roleKey, displayName: 'R' }, { ...as, headers })
    const { etag } = (await add('r')).headers
    const update = (match: string, id = projectId) =>
      call('UpdateProject', { projectId: id, name: unique('P') }, { ...as, headers: { 'if-none-match': match } })
    for (const match of ['*', etag!, `"999", W/${etag!}`]) {
      const refused = await update(match)
      expect(factsOf(refused)).toMatchObject({ code: 9, reason: 'SEQUENCE_MISMATCH' })
      if (refused.http) expect([412, 200]).toContain(refused.http)
    }
    expect(factsOf(await update('*', 'unknown')).reason).toBe('PROJECT_NOT_FOUND')
    expect(factsOf(await update('3'))).toMatchObject({ reason: 'IF_NONE_MATCH_MALFORMED', fields: ['if-none-match'] })
    ok(await update('"999"'))
    ok(await add('s', { 'if-none-match': '*' }))
    const machine = { userName: unique('machine'), name: 'M' }
    ok(await call('AddMachineUser', machine, { ...as, headers: { 'if-none-match': '*' } }))
  })

  test('of 20 changes bound to one sequence, one succeeds', async () => {
    const { userId } = await newHuman(await organization, { verification: { isVerified: true } })
    const etag = (await call('GetUser', { userId }, admin(await organization))).headers['etag']!
    const options = { ...admin(await organization), headers: { 'if-match': etag } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, options)),
    )
    expect(answers.filter(({ error }) => !error)).toHaveLength(1)
    expect(answers.filter((answer) => factsOf(answer).reason === 'SEQUENCE_MISMATCH')).toHaveLength(19)
  })

  test('a missing object is NOT_FOUND, and a malformed If-Match is refused with its name', async () => {
    const options = async (match: string) => ({ ...admin(await organization), headers: { 'if-match': match } })
    const missing = await call('UpdateIDP', { idpId: 'none', name: 'x' }, await options('*'))
    expect(factsOf(missing)).toMatchObject({ code: 5, reason: 'IDP_NOT_FOUND' })
    const malformed = await call('UpdateIDP', { idpId: 'none', name: 'x' }, await options('3'))
    expect(factsOf(malformed)).toMatchObject({ code: 3, reason: 'IF_MATCH_MALFORMED', fields: ['if-match'] })
  })
})

test.skipIf(!hasMailbox())(
  `the ETag of SetEmail still holds once its mail is sent and recorded${hasMailbox() ? '' : ' (skipped: no mailbox)'}`,
  { timeout: 60_000 },
  async () => {
    const { userId } = await newHuman(await organization, { verification: { isVerified: true } })
    const email = uniqueEmail()
    const changed = await json('SetEmail', { userId, email }, admin(await organization))
    await mailTo(email)
    const sent = { filter: { aggregateIds: [userId], eventTypes: ['user.email.code.sent'] }, waitSeconds: 5 }
    await vi.waitFor(async () => expect(ok(await json('SearchEvents', sent, admin())).events).toHaveLength(1), 30_000)
    const bound = { ...admin(await organization), headers: { 'if-match': changed.headers['etag']! } }
    const next = ok(await json('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, bound))
    expect(Number(next.details.sequence)).toBeGreaterThan(Number(ok(changed).details.sequence))
  },
)

describe('If-Match reveals no more than the answer without it', () => {
  const headers = { 'if-match': '"999"' }

  test('about users, to a caller without a token and without the code', async () => {
    const { userId } = await newHuman(await organization)
    const { verificationCode } = ok(await json('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin()))
    for (const one of [userId, 'admin', 'unknown-user']) {
      const facts = factsOf(await json('VerifyEmail', { userId: one, verificationCode: 'WRONG2' }, { headers }))
      expect({ ...facts, user: one }).toMatchObject({ reason: 'CODE_INVALID', metadata: {} })
    }
    const late = await json('VerifyEmail', { userId, verificationCode }, { headers })
    expect(factsOf(late).reason).toBe('SEQUENCE_MISMATCH')
    ok(await json('VerifyEmail', { userId, verificationCode }))
  })

  test('about users of other organizations, to a caller that wants their id', async () => {
    const [foreign, { token }] = [
      await newHuman(await newOrganization()),
      await newMember(await organization, ['ORG_OWNER']),
    ]
    ok(await json('SetEmail', { userId: foreign.userId, email: uniqueEmail(), returnCode: {} }, admin()))
    const add = (userId: string, ifMatch: string) => {
      const options = { token, headers: { 'if-match': ifMatch } }
      const human = { profile: { firstName: 'A', lastName: 'B' }, email: { email: uniqueEmail(), isVerified: true } }
      return Promise.all([
        json('AddMachineUser', { userId, userName: unique('machine'), name: 'M' }, options),
        json('AddHumanUser', { userId, userName: unique('human'), ...human }, options),
      ])
    }
    for (const ifMatch of ['"1"', '"2"', '"3"', '"999"', '*'])
      for (const userId of [foreign.userId, 'admin', unique('free')])
        for (const answer of await add(userId, ifMatch))
          expect(factsOf(answer)).toMatchObject({ reason: 'SEQUENCE_MISMATCH', metadata: { sequence: '0' } })
    // An object that is yet to be created has the sequence 0.
    const answers = await add(foreign.userId, '"0"')
    expect(answers.map((answer) => factsOf(answer).reason)).toEqual(['USER_ID_TAKEN', 'USER_ID_TAKEN'])
    expect((await add(unique('free'), '"0"')).map((answer) => factsOf(answer).reason)).toContain(undefined)
  })

  test('about projects and webhooks, to another organization', async () => {
    const home = await organization
    const url = 'https://receiver.example.com/'
    const [projectId, { webhookId }] = await Promise.all([
      newProject(home),
      json('AddWebhook', { url }, admin(home)).then(ok),
    ])
    const { token } = await newMember(await newOrganization(), ['ORG_OWNER'])
    const role = (id: string) =>
      json('AddProjectRole', { projectId: id, roleKey: 'r', displayName: 'R' }, { token, headers })
    expect(factsOf(await role('unknown')).reason).toBe('PROJECT_NOT_FOUND')
    expect((await role(projectId)).error).toEqual((await role('unknown')).error)
    const change = (id: string) => json('UpdateWebhook', { webhookId: id, url }, { token, headers })
    expect(factsOf(await change('unknown')).reason).toBe('WEBHOOK_NOT_FOUND')
    expect((await change(webhookId)).error).toEqual((await change('unknown')).error)
  })
})
