/** Calls Roster in the protocol that its argument names: reads what to do from the standard input, prints what it did. */
import { readFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import {
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf'
import { type CallOptions, ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { BadRequestSchema, ErrorInfoSchema } from './gen/google/rpc/error_details_pb.js'
import { UserGrantService } from './gen/roster/grants/v1/user_grant_service_pb.js'
import { IdentityProviderService } from './gen/roster/idp/v1/identity_provider_service_pb.js'
import { UserService } from './gen/roster/users/v1/user_service_pb.js'

interface Call {
  token: string
  organization: string
  request: JsonValue
}

type Operation = (call: Call) => Promise<JsonValue>

const work = (await json(process.stdin)) as { url: string; certificate: string; calls: Record<string, Call> }
const nodeOptions = work.certificate ? { ca: readFileSync(work.certificate) } : {}
const options = { baseUrl: work.url, httpVersion: '1.1' as const, nodeOptions }
const transport = {
  Connect: () => createConnectTransport(options),
  gRPC: () => createGrpcTransport({ baseUrl: work.url, nodeOptions }),
  'gRPC-web': () => createGrpcWebTransport(options),
}[process.argv[2]!]!()

const users = createClient(UserService, transport)
const operations: Record<string, Operation> = {
  UpdateMyProfile: operation(UserService.method.updateMyProfile, users.updateMyProfile),
  UpdateIDP: operation(
    IdentityProviderService.method.updateIDP,
    createClient(IdentityProviderService, transport).updateIDP,
  ),
  AddMachineUser: operation(UserService.method.addMachineUser, users.addMachineUser),
  SetEmail: operation(UserService.method.setEmail, users.setEmail),
  AddUserGrant: operation(UserGrantService.method.addUserGrant, createClient(UserGrantService, transport).addUserGrant),
  SearchUsers: operation(UserService.method.searchUsers, users.searchUsers),
}
const answers: Record<string, JsonValue> = {}
for (const [name, call] of Object.entries(work.calls)) answers[name] = await operations[name]!(call)
const error = await operations['SetEmail']!({ ...work.calls['SetEmail']!, request: { userId: 'unknown' } }).then(
  () => undefined,
  readError,
)
process.stdout.write(JSON.stringify({ answers, error }))

function operation<I extends DescMessage, O extends DescMessage>(
  { input, output }: DescMethodUnary<I, O>,
  method: (request: MessageShape<I>, options: CallOptions) => Promise<MessageShape<O>>,
): Operation {
  return async ({ token, organization, request }) => {
    const headers = { authorization: `Bearer ${token}`, 'x-service-orgid': organization }
    return toJson(output, await method(fromJson(input, request), { headers }))
  }
}

function readError(thrown: unknown) {
  const error = ConnectError.from(thrown)
  const [info] = error.findDetails(ErrorInfoSchema)
  const [badRequest] = error.findDetails(BadRequestSchema)
  return {
    code: error.code,
    message: error.rawMessage,
    reason: info?.reason,
    field: badRequest?.fieldViolations[0]?.field,
  }
}
