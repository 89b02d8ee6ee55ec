import { expect } from 'vitest'
import { callJson } from '../e2e/clients/json.ts'
import type { OperatedHouse } from './operated-house.ts'

const profile = { firstName: 'Ada', lastName: 'Lovelace' }
const password = 'Correct-Horse-7'

/** People, machines and a webhook, to whose receiver the backup still has something to send. */
export async function liveBefore({ house, act }: OperatedHouse, receiver: string) {
  await act('AddHumanUser', {
    userId: 'ada',
    userName: 'ada',
    profile,
    email: email('ada', { isVerified: true }),
    password,
  })
  const { emailCode } = await act('AddHumanUser', {
    userId: 'bob',
    userName: 'bob',
    profile,
    email: email('bob', { returnCode: {} }),
  })
  await act('AddHumanUser', { userId: 'eve', userName: 'eve', profile, email: email('eve', { isVerified: true }) })
  await act('AddMachineUser', { userId: 'robot', userName: 'robot', name: 'Robot' })
  const pat = await act('AddPersonalAccessToken', { userId: 'robot' })
  const secret = await act('AddMachineSecret', { userId: 'robot' })
  await act('AddInstanceMember', { userId: 'robot', roles: ['IAM_OWNER_VIEWER'] })
  await act('AddWebhook', { url: receiver, eventTypes: ['user.machine.added'] })
  await act('AddMachineUser', { userId: 'sent-later', userName: 'sent-later', name: 'Sent later' })
  const credentials = { loginName: 'ada', password }
  const { ok } = await callJson('CreateSession', credentials, house)
  const form = { grant_type: 'client_credentials', client_id: 'robot', client_secret: secret.clientSecret }
  const issued = await fetch(`${house.url}/oauth/v2/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: accessToken } = (await issued.json()) as { access_token: string }
  return { session: String(ok!['sessionToken']), accessToken, pat: pat.token, tokenId: pat.tokenId, code: emailCode }
}

/** Adds what is lost with the database: removals of people and members, and ended credentials. */
export async function liveAfter({ house, act }: OperatedHouse, tokenId: string) {
  const { receipt } = await act('DeleteUser', { userId: 'eve' })
  await act('RemovePersonalAccessToken', { userId: 'robot', tokenId })
  await act('RemoveInstanceMember', { userId: 'robot' })
  await act('LockUser', { userId: 'bob' })
  return { receipt: receipt as string, keys: await (await fetch(`${house.url}/oauth/v2/keys`)).text() }
}

/** Whether the bearer of this token is known. */
export async function works({ house }: OperatedHouse, token: string): Promise<boolean> {
  return (await callJson('GetMyUser', {}, { url: house.url, token })).error === undefined
}

/** Signs ada in. */
export async function signIn({ house }: OperatedHouse): Promise<string> {
  const { ok, error } = await callJson('CreateSession', { loginName: 'ada', password }, house)
  expect(error).toBeUndefined()
  return String(ok!['sessionToken'])
}

function email(name: string, verification: object) {
  return { email: `${name}@example.com`, ...verification }
}
