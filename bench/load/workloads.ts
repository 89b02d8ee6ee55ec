import { IssueTokenRequest } from '#gen/roster/users/v1/oauth_service'
import { AddMachineUserRequest, GetUserRequest, SetEmailRequest } from '#gen/roster/users/v1/user_service'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import { tokenByAssertion, tokenBySecret, type TokenClient } from './tokens.ts'

export const names = [
  'SetEmail',
  'SetEmail+key',
  'SetEmail+match',
  'AddMachineUser',
  'GetUser',
  'Token',
  'Token+assertion',
  'Evented',
  'Minted',
  'Echo',
  'bare',
] as const

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
  /** Machines with a secret and a key. */
  clients: TokenClient[]
  /** The issuer of tokens. */
  issuer: string
  /** Keeps names unique across rounds. */
  round: number
}

export interface Workload {
  /** The n-th request over HTTP. */
  http(subjects: Subjects, n: number): { verb: string; path: string; body: string; type?: string }
  /** The same over gRPC. Not every chain has it. */
  grpc?: { path: string; encode(subjects: Subjects, n: number): Uint8Array }
  /** Further headers or metadata of the request. */
  headers?(subjects: Subjects, n: number): Record<string, string>
}

const service = '/roster.users.v1.UserService'
const tokenPath = { http: '/oauth/v2/token', grpc: '/roster.users.v1.OAuthService/IssueToken' }
const userOf = ({ userIds }: Subjects, n: number) => userIds[n % userIds.length]!
const clientOf = ({ clients }: Subjects, n: number) => clients[n % clients.length]!
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

export const workloads: Record<WorkloadName, Workload> = {
  // The body of a SetEmail, so that both chains carry the same bytes.
  bare: {
    http: (subjects, n) => ({ ...setEmail(subjects, n), path: '/' }),
    grpc: { ...setEmailGrpc, path: '/bench.Chain/bare' },
  },
  // What a durable change with events costs where nobody checks anything. It does not go to Roster.
  Evented: {
    http: (subjects, n) => ({
      verb: 'POST',
      path: '/evented',
      body: JSON.stringify({ userId: userOf(subjects, n), email: emailOf(subjects, n), returnCode: {} }),
    }),
  },
  // What a stored, signed token with its event costs where nobody asks for more than the secret.
  Minted: {
    http: (subjects, n) => ({ ...token((client) => tokenBySecret(client)).http(subjects, n), path: '/minted' }),
  },
  // What any answer costs that takes this way, even from memory.
  Echo: {
    http: (subjects, n) => ({ verb: 'GET', path: `/echo/${userOf(subjects, n)}`, body: '' }),
    grpc: { ...getUserGrpc, path: '/bench.Chain/echo' },
  },
  SetEmail: { http: setEmail, grpc: setEmailGrpc },
  'SetEmail+key': {
    http: setEmail,
    grpc: setEmailGrpc,
    headers: ({ round }, n) => ({ 'idempotency-key': `bench-${round}-${n}` }),
  },
  // Any sequence. There are more writers than users, so an exact sequence would often be outdated by another writer.
  'SetEmail+match': { http: setEmail, grpc: setEmailGrpc, headers: () => ({ 'if-match': '*' }) },
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
  GetUser: {
    http: (subjects, n) => ({ verb: 'GET', path: `/v2/users/${userOf(subjects, n)}`, body: '' }),
    grpc: getUserGrpc,
  },
  Token: token((client) => tokenBySecret(client)),
  'Token+assertion': token((client, { issuer }) => tokenByAssertion(client, issuer)),
}

function token(fieldsOf: (client: TokenClient, subjects: Subjects) => Record<string, string>): Workload {
  return {
    http: (subjects, n) => ({
      verb: 'POST',
      path: tokenPath.http,
      body: new URLSearchParams(fieldsOf(clientOf(subjects, n), subjects)).toString(),
      type: 'application/x-www-form-urlencoded',
    }),
    grpc: {
      path: tokenPath.grpc,
      encode: (subjects, n) => {
        const fields = fieldsOf(clientOf(subjects, n), subjects)
        return IssueTokenRequest.encode({
          grantType: fields['grant_type'] ?? '',
          scope: '',
          clientId: fields['client_id'] ?? '',
          clientSecret: fields['client_secret'] ?? '',
          clientAssertionType: fields['client_assertion_type'] ?? '',
          clientAssertion: fields['client_assertion'] ?? '',
          assertion: '',
          dpopProof: '',
        }).finish()
      },
    },
  }
}

function setEmail(subjects: Subjects, n: number) {
  return {
    verb: 'POST',
    path: `/v2/users/${userOf(subjects, n)}/email`,
    body: JSON.stringify({ email: emailOf(subjects, n), returnCode: {} }),
  }
}
