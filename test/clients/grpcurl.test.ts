import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { contract } from '../examples/contract.ts'
import { installGo, unlessThereIs } from './build.ts'
import { expectOutcome } from './outcomes.ts'
import { type Road, roads } from './roads.ts'
import { newWork, type WorkCall } from './work.ts'

const noGo = unlessThereIs('go')
let grpcurl: string

describe.skipIf(noGo).each(roads())(`grpcurl without any proto file, $name${noGo}`, (road) => {
  beforeAll(async () => {
    grpcurl = await installGo('github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3')
  })

  test('lists the services, and describes a method with its options', async () => {
    const listed = (await run(road, [], 'list')).stdout.trim().split('\n')
    const services = Object.values(contract).map(([service]) => service)
    expect(listed).toEqual(
      expect.arrayContaining([...services, 'grpc.health.v1.Health', 'zitadel.auth.v1.AuthService']),
    )
    const { stdout } = await run(road, [], 'describe', 'roster.users.v1.UserService.SetEmail')
    expect(stdout).toContain('option (.google.api.http) = {')
    expect(stdout).toContain('option (.roster.options.v1.access) = {')
  })

  test('asks for the health, and calls a method of ZITADEL', async () => {
    expect(await answerOf(road, 'grpc.health.v1.Health/Check')).toEqual({ status: 'SERVING' })
    const { work } = await newWork(road)
    const me = await answerOf(road, 'zitadel.auth.v1.AuthService/GetMyUser', work.calls.UpdateMyProfile, {})
    expect(me).toMatchObject({ user: { human: { profile: { displayName: expect.any(String) } } } })
  })

  test('performs the five operations and a search, and reads an error with its details', async () => {
    const { work, check } = await newWork(road)
    const answers: Record<string, unknown> = {}
    for (const [name, call] of Object.entries(work.calls)) answers[name] = await answerOf(road, methodOf(name), call)
    const { SetEmail } = work.calls
    const wrong = options({ ...SetEmail, request: { ...SetEmail.request, email: '' } })
    const failed = await run(road, ['-format-error', ...wrong], methodOf('SetEmail')).catch((error) => error)
    const { code, message, details } = JSON.parse(failed.stderr)
    const [{ reason }] = details
    const [{ field }] = details.flatMap(({ fieldViolations = [] }) => fieldViolations)
    await check({ answers: answers as never, error: { code, message, reason, field } })
    expectOutcome({ client: 'grpcurl', speaks: 'gRPC' }, road.name, 'five operations, search, error')
  })
})

function methodOf(operation: string): string {
  const [service] = contract[operation as keyof typeof contract]
  return `${service}/${operation}`
}

async function answerOf(road: Road, method: string, call?: WorkCall, request = call?.request): Promise<unknown> {
  return JSON.parse((await run(road, call ? options({ ...call, request: request! }) : [], method)).stdout)
}

function options({ token, organization, request }: WorkCall): string[] {
  const headers = ['-H', `authorization: Bearer ${token}`, '-H', `x-service-orgid: ${organization}`]
  return [...headers, '-d', JSON.stringify(request)]
}

function run({ url, certificate }: Road, given: string[], ...asked: string[]) {
  const trust = certificate ? ['-cacert', certificate] : ['-plaintext']
  return promisify(execFile)(grpcurl, [...trust, ...given, new URL(url).host, ...asked])
}
