import { beforeAll, describe, expect, inject, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

let organization: string
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

beforeAll(async () => {
  organization = await newOrganization()
})

describe.each(over('connect'))('a verification code over $encoding', ({ call }) => {
  const newUnverified = async () => {
    const { userId, email, emailCode } = await newHuman(organization, { verification: { returnCode: {} } })
    return { userId, email, code: emailCode! }
  }
  const verify = (userId: string, verificationCode: string) => call('VerifyEmail', { userId, verificationCode })
  const isVerified = async (userId: string) => (await getUser(userId)).human.email.isVerified === true
  const expectInvalid = (answer: Answer) =>
    expect(factsOf(answer)).toMatchObject({ code: 3, reason: 'CODE_INVALID', fields: ['verificationCode'] })
  const wrong = (code: string) => (code === 'WWWWWW' ? 'XXXXXX' : 'WWWWWW')

  test('verifies its address once, without a token and even with an invalid one', async () => {
    const { userId, code } = await newUnverified()
    const before = (await getUser(userId)).details
    const answer = await call('VerifyEmail', { userId, verificationCode: code }, { token: 'dead' })
    const { details } = ok(answer)
    expect(details).toEqual({
      ...before,
      sequence: String(Number(before.sequence) + 1),
      changeDate: expect.any(String),
    })
    expect(await isVerified(userId)).toBe(true)
    expectInvalid(await verify(userId, code))
  })

  test('is accepted in lower case and with blanks and hyphens', async () => {
    const { userId, code } = await newUnverified()
    ok(await verify(userId, ` ${code.slice(0, 3)}-${code.slice(3)} `.toLowerCase()))
  })

  test('gives the same CODE_INVALID when it is wrong, used, superseded or of an unknown user', async () => {
    const { userId, email, code } = await newUnverified()
    const answers = [await verify(userId, wrong(code)), await verify('unknown', code)]
    const resent = ok(await call('ResendEmailCode', { userId, returnCode: {} }, admin())).verificationCode
    answers.push(await verify(userId, code))
    const changed = ok(await call('SetEmail', { userId, email, returnCode: {} }, admin())).verificationCode
    answers.push(await verify(userId, resent))
    ok(await verify(userId, changed))
    answers.push(await verify(userId, changed))
    for (const answer of answers) expectInvalid(answer)
    for (const answer of answers) expect(answer.error).toEqual(answers[0]!.error)
  })

  test('of one user or address cannot verify another', async () => {
    const [one, other] = [await newUnverified(), await newUnverified()]
    expectInvalid(await verify(other.userId, one.code))
    ok(await call('SetEmail', { userId: one.userId, email: uniqueEmail(), returnCode: {} }, admin()))
    expectInvalid(await verify(one.userId, one.code))
  })

  test('survives four wrong tries and is invalid after the fifth', async () => {
    const [patient, dead] = [await newUnverified(), await newUnverified()]
    for (let n = 0; n < 4; n++) expectInvalid(await verify(patient.userId, wrong(patient.code)))
    ok(await verify(patient.userId, patient.code))
    for (let n = 0; n < 5; n++) expectInvalid(await verify(dead.userId, wrong(dead.code)))
    expectInvalid(await verify(dead.userId, dead.code))
    expect(await isVerified(dead.userId)).toBe(false)
    const { verificationCode } = ok(await call('ResendEmailCode', { userId: dead.userId, returnCode: {} }, admin()))
    ok(await verify(dead.userId, verificationCode))
  })

  test('is invalid after parallel wrong tries as well', async () => {
    const { userId, code } = await newUnverified()
    await Promise.all(Array.from({ length: 10 }, () => verify(userId, wrong(code))))
    expectInvalid(await verify(userId, code))
  })

  test.skipIf(!hasMailbox())(
    `is sent again once a minute: the old one dies, the new one comes by mail${mailbox}`,
    async () => {
      const { userId, email, code } = await newUnverified()
      expect(ok(await call('ResendEmailCode', { userId, sendCode: {} }, admin()))).not.toHaveProperty(
        'verificationCode',
      )
      expectInvalid(await verify(userId, code))
      const again = await call('ResendEmailCode', { userId }, admin())
      expect(factsOf(again)).toMatchObject({ code: 8, reason: 'CODE_THROTTLED' })
      expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(60)
      ok(await verify(userId, (await mailTo(email)).code))
    },
  )

  test('is returned to a caller with the permission as often as it asks, and never to the user', async () => {
    const { userId } = await newUnverified()
    for (let n = 0; n < 3; n++) ok(await call('ResendEmailCode', { userId, returnCode: {} }, admin()))
    const me = await newMember(organization, [])
    ok(await call('SetEmail', { userId: me.userId, email: uniqueEmail(), returnCode: {} }, admin()))
    expect(factsOf(await call('ResendEmailCode', { userId: me.userId, returnCode: {} }, me)).reason).toBe(
      'PERMISSION_DENIED',
    )
    ok(await call('ResendEmailCode', { userId: me.userId }, me))
  })

  test('is not sent again for a verified address', async () => {
    const { userId } = await newHuman(organization)
    expect(factsOf(await call('ResendEmailCode', { userId, returnCode: {} }, admin()))).toMatchObject({
      code: 9,
      reason: 'EMAIL_ALREADY_VERIFIED',
    })
  })
})

test('no GET, HEAD or OPTIONS of a link in a mail verifies or changes anything', async () => {
  const { userId, emailCode } = await newHuman(organization, { verification: { returnCode: {} } })
  const before = await getUser(userId)
  const query = `userId=${userId}&user_id=${userId}&code=${emailCode}&verificationCode=${emailCode}&verification_code=${emailCode}`
  const paths = [
    `/v2/users/${userId}/email/verify?${query}`,
    `/v2/users/${userId}/email?${query}`,
    `/v2/users/${userId}/email/resend?${query}`,
    `/ui/verify-email?${query}`,
    `/ui/verify-email/${userId}/${emailCode}`,
    `/roster.users.v1.UserService/VerifyEmail?${query}`,
  ]
  for (const path of paths)
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      for (const headers of [{}, { 'x-http-method-override': 'POST' }] as Record<string, string>[])
        await (await fetch(inject('roster').url + path, { method, headers })).arrayBuffer()
  expect(await getUser(userId)).toEqual(before)
})
