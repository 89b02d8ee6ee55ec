import { describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newOrganization, ok, unique, uniqueEmail } from '../examples/people.ts'
import { newIdp, newProject } from '../examples/projects.ts'
import { type Answer, factsOf } from './clients/call.ts'
import { encodings, over } from './clients/encodings.ts'

const fifty = Array.from({ length: 50 })
const organization = newOrganization()

function reasons(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    const reason = factsOf(answer).reason ?? 'ok'
    counts[reason] = (counts[reason] ?? 0) + 1
  }
  return counts
}

// The house has two of each service, so that their changes collide in the database.
describe.each(over('grpc'))('at the same time over $encoding', ({ call }) => {
  test('50 SetEmail on one user: 50 distinct sequences, and the state is that of the highest', async () => {
    const { userId } = await newHuman(await organization)
    const sent = fifty.map(() => uniqueEmail())
    const answers = await Promise.all(sent.map((email) => call('SetEmail', { userId, email, returnCode: {} }, admin())))
    const sequences = answers.map((answer) => Number(ok(answer).details.sequence))
    expect(new Set(sequences).size).toBe(50)
    const highest = Math.max(...sequences)
    const last = sequences.indexOf(highest)
    const user = await getUser(userId)
    expect(user.details.sequence).toBe(String(highest))
    expect(user.human.email.email).toBe(sent[last])
    const { verificationCode } = answers[last]!.ok
    ok(await call('VerifyEmail', { userId, verificationCode }))
  })

  test('50 AddMachineUser of one name: one succeeds, 49 times the name is taken', async () => {
    const userName = unique('machine')
    const add = async (_: unknown, n: number) =>
      call(
        'AddMachineUser',
        { userName: n % 2 ? userName : userName.toUpperCase(), name: 'M' },
        admin(await organization),
      )
    const answers = await Promise.all(fifty.map(add))
    expect(reasons(answers)).toEqual({ ok: 1, USER_NAME_TAKEN: 49 })
    if (answers[0]!.http) expect(answers.filter(({ http }) => http === 409 || http === 200)).toHaveLength(50)
  })

  test('50 AddMachineUser of one id: one succeeds, 49 times the id is taken', async () => {
    const userId = unique('id')
    const add = async () =>
      call('AddMachineUser', { userId, userName: unique('machine'), name: 'M' }, admin(await organization))
    expect(reasons(await Promise.all(fifty.map(add)))).toEqual({ ok: 1, USER_ID_TAKEN: 49 })
    ok(await call('GetUser', { userId }, admin()))
  })

  test('50 UpdateIDP to one name: one provider gets it, and a repetition is no conflict', async () => {
    const providers = await Promise.all(Array.from({ length: 5 }, () => newIdp()))
    const name = unique('Wanted')
    const answers = await Promise.all(
      fifty.map(async (_, n) => call('UpdateIDP', { idpId: providers[n % 5]!.idpId, name }, admin())),
    )
    expect(reasons(answers)).toEqual({ ok: 10, IDP_NAME_TAKEN: 40 })
    const sequences = answers.filter(({ error }) => !error).map((answer) => answer.ok.details.sequence)
    expect(new Set(sequences)).toEqual(new Set(['2']))
  })

  test('50 AddUserGrant of the same grant: one succeeds, 49 times it exists already', async () => {
    const { userId } = await newHuman(await organization)
    const projectId = await newProject(await organization)
    const add = async () => call('AddUserGrant', { userId, projectId }, admin(await organization))
    expect(reasons(await Promise.all(fifty.map(add)))).toEqual({ ok: 1, USER_GRANT_EXISTS: 49 })
  })

  test('ten tries of one code: only one is accepted', async () => {
    const { userId, emailCode } = await newHuman(await organization, { verification: { returnCode: {} } })
    const verify = () => call('VerifyEmail', { userId, verificationCode: emailCode! })
    const answers = await Promise.all(Array.from({ length: 10 }, verify))
    expect(reasons(answers)).toEqual({ ok: 1, CODE_INVALID: 9 })
  })

  test('20 ResendEmailCode: one mail a minute', async () => {
    const { userId } = await newHuman(await organization, { verification: { returnCode: {} } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('ResendEmailCode', { userId }, admin())))
    expect(reasons(answers)).toEqual({ ok: 1, CODE_THROTTLED: 19 })
  })
})

test('50 AddMachineUser of one name over all encodings: one succeeds', async () => {
  const userName = unique('machine')
  const add = async (_: unknown, n: number) =>
    encodings[n % 4]!.call('AddMachineUser', { userName, name: 'M' }, admin(await organization))
  expect(reasons(await Promise.all(fifty.map(add)))).toEqual({ ok: 1, USER_NAME_TAKEN: 49 })
})
