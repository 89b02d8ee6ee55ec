import { IssueTokenRequest } from '#gen/roster/users/v1/oauth_service'
import { AddMachineUserRequest, GetUserRequest, SetEmailRequest } from '#gen/roster/users/v1/user_service'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import {
  type Answer,
  type Asked,
  type Family,
  firstOfSignIn,
  nextOfSignIn,
  redemption,
  refresh,
  silent,
  takeCode,
  takeTokens,
} from './people.ts'
import { tokenBySecret, type TokenClient } from './tokens.ts'

export const names = [
  'SetEmail',
  'AddMachineUser',
  'GetUser',
  'Token',
  'Silent',
  'CodeFlow',
  'Password',
  'Refresh',
  'RefreshOpenID',
  'UserInfo',
  'Mixed',
  'Evented',
  'Minted',
  'Echo',
  'bare',
] as const

/** Workloads of people who have signed in. */
export const ofPeople: readonly WorkloadName[] = [
  'Silent',
  'CodeFlow',
  'Password',
  'Refresh',
  'RefreshOpenID',
  'UserInfo',
  'Mixed',
]

/** Workloads of the processes in bench/bare-chain, not of Roster. */
export const chains: Partial<Record<WorkloadName, string>> = {
  bare: 'bare chain',
  Evented: 'evented chain',
  Minted: 'token chain',
  Echo: 'echo chain',
}

export type WorkloadName = (typeof names)[number]

/** The objects that a workload's requests name. */
export interface Subjects {
  userIds: string[]
  /** Machines with a secret. */
  clients: TokenClient[]
  /** People who have signed in to applications; each answer changes the one of its request. */
  families?: Family[]
  /** Keeps names unique across rounds. */
  round: number
}

export interface HttpRequest {
  verb: string
  path: string
  body: string | Uint8Array
  headers?: Record<string, string>
  /** Keeps what a later request needs of its answer. Returns the one that belongs to the same call, if any. */
  take?: (answer: Answer) => HttpRequest | void
}

export interface Workload {
  /** The n-th request over HTTP. */
  http(subjects: Subjects, n: number): HttpRequest
  /** The same over gRPC. Not every chain has it. */
  grpc?: { path: string; encode(subjects: Subjects, n: number): Uint8Array }
}

const service = '/roster.users.v1.UserService'
const tokenPath = { http: '/oauth/v2/token', grpc: '/roster.users.v1.OAuthService/IssueToken' }
const userOf = ({ userIds }: Subjects, n: number) => userIds[n % userIds.length]!
const clientOf = ({ clients }: Subjects, n: number) => clients[n % clients.length]!
const familyOf = ({ families }: Subjects, n: number) => families![n % families!.length]!
const emailOf = ({ round }: Subjects, n: number) => `address-${round}-${n}@example.com`
const nameOf = ({ round }: Subjects, n: number) => `machine-${round}-${n}`

const setEmailGrpc = {
  path: `${service}/SetEmail`,
  encode: (subjects: Subjects, n: number) =>
    SetEmailRequest.encode({
      userId: userOf(subjects, n),
      email: emailOf(subjects, n),
      verification: { $case: 'returnCode', value: {} },
    }).finish(),
}

const getUserGrpc = {
  path: `${service}/GetUser`,
  encode: (subjects: Subjects, n: number) => GetUserRequest.encode({ userId: userOf(subjects, n) }).finish(),
}

const token: Workload = {
  http: (subjects, n) => ({
    verb: 'POST',
    path: tokenPath.http,
    body: new URLSearchParams(tokenBySecret(clientOf(subjects, n))).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  grpc: {
    path: tokenPath.grpc,
    encode: (subjects, n) => {
      const { id, secret } = clientOf(subjects, n)
      return IssueTokenRequest.encode({
        grantType: 'client_credentials',
        scope: '',
        clientId: id,
        clientSecret: secret,
        clientAssertionType: '',
        clientAssertion: '',
        assertion: '',
        dpopProof: '',
        code: '',
        redirectUri: '',
        codeVerifier: '',
        refreshToken: '',
        httpBasic: false,
        resource: [],
      }).finish()
    },
  },
}

export const workloads: Record<WorkloadName, Workload> = {
  // The body of a SetEmail, so that both chains carry the same bytes.
  bare: {
    http: (subjects, n) => ({ ...setEmail(subjects, n), path: '/' }),
    grpc: { ...setEmailGrpc, path: '/bench.Chain/bare' },
  },
  // What a durable change with events costs where nothing is checked. It does not go to Roster.
  Evented: {
    http: (subjects, n) => ({
      verb: 'POST',
      path: '/evented',
      body: JSON.stringify({ userId: userOf(subjects, n), email: emailOf(subjects, n), returnCode: {} }),
    }),
  },
  // What a stored, signed token with its event costs where only the secret is asked for.
  Minted: {
    http: (subjects, n) => ({ ...token.http(subjects, n), path: '/minted' }),
  },
  // What any answer costs that takes this way, even from memory.
  Echo: {
    http: (subjects, n) => ({ verb: 'GET', path: `/echo/${userOf(subjects, n)}`, body: '' }),
    grpc: { ...getUserGrpc, path: '/bench.Chain/echo' },
  },
  SetEmail: { http: setEmail, grpc: setEmailGrpc },
  AddMachineUser: {
    http: (subjects, n) => ({
      verb: 'POST',
      path: '/management/v1/users/machine',
      body: JSON.stringify({
        userName: nameOf(subjects, n),
        name: 'A machine',
        description: 'Made by the bench',
        accessTokenType: 'ACCESS_TOKEN_TYPE_JWT',
      }),
    }),
    grpc: {
      path: `${service}/AddMachineUser`,
      encode: (subjects, n) =>
        AddMachineUserRequest.encode({
          userName: nameOf(subjects, n),
          name: 'A machine',
          description: 'Made by the bench',
          accessTokenType: AccessTokenType.ACCESS_TOKEN_TYPE_JWT,
        }).finish(),
    },
  },
  // Writes of several kinds share transactions.
  Mixed: { http: (subjects, n) => workloads[kindOf('Mixed', n)].http(subjects, Math.floor(n / mixed.length)) },
  GetUser: {
    http: (subjects, n) => ({ verb: 'GET', path: `/v2/users/${userOf(subjects, n)}`, body: '' }),
    grpc: getUserGrpc,
  },
  Token: token,
  Silent: { http: (subjects, n) => silently(familyOf(subjects, n)) },
  // Of two calls one brings a code and the next one redeems it.
  CodeFlow: {
    http: (subjects, n) => {
      const family = familyOf(subjects, n)
      if (family.code === '') return silently(family)
      const request = { ...redemption(family), take: (answer: Answer) => takeTokens(family, 'openid', answer) }
      family.code = ''
      return request
    },
  },
  // One call is all that a person waits for, in a new browser: from the application's link to its tokens.
  Password: {
    http: (subjects, n) => {
      // The code is not one that another call takes.
      const family = { ...familyOf(subjects, n) }
      return signingIn(family, firstOfSignIn(family))
    },
  },
  Refresh: { http: (subjects, n) => refreshed(familyOf(subjects, n), 'plain') },
  RefreshOpenID: { http: (subjects, n) => refreshed(familyOf(subjects, n), 'openid') },
  UserInfo: {
    http: (subjects, n) => ({
      verb: 'GET',
      path: '/oidc/v1/userinfo',
      body: '',
      headers: { authorization: `Bearer ${familyOf(subjects, n).accessToken}` },
    }),
  },
}

/** The workload whose request the n-th one is. */
export function kindOf(workload: WorkloadName, n: number): WorkloadName {
  return workload === 'Mixed' ? mixed[n % mixed.length]! : workload
}

const mixed = ['SetEmail', 'Refresh', 'AddMachineUser', 'Token', 'CodeFlow'] as const

function silently(family: Family): HttpRequest {
  return { ...silent(family), take: (answer) => takeCode(family, answer) }
}

function signingIn(family: Family, asked: Asked): HttpRequest {
  const take = (answer: Answer) => {
    const next = nextOfSignIn(family, asked, answer)
    return next ? signingIn(family, next) : redemption(family)
  }
  return { ...asked, take }
}

function refreshed(family: Family, kind: 'openid' | 'plain'): HttpRequest {
  return { ...refresh(family, kind), take: (answer) => takeTokens(family, kind, answer) }
}

function setEmail(subjects: Subjects, n: number) {
  return {
    verb: 'POST',
    path: `/v2/users/${userOf(subjects, n)}/email`,
    body: JSON.stringify({ email: emailOf(subjects, n), returnCode: {} }),
  }
}
