import { randomUUID } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../examples/contract.ts'
import { act } from './act.ts'
import type { Called } from './running.ts'
import type { Belongings } from './writes.ts'

/** Makes the objects of a writer. */
export async function settle(called: Called, writer: number): Promise<Belongings> {
  const ask = (operation: Operation, request: JsonObject) =>
    act(called, operation, request, { headers: { 'idempotency-key': randomUUID() } })
  const { id: projectId } = await ask('AddProject', { name: `Project ${writer}` })
  await ask('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
  const { idpId } = await ask('AddOIDCIDP', {
    name: `Provider ${writer} ${randomUUID()}`,
    clientId: 'client',
    clientSecret: 'client-secret',
    issuer: 'https://issuer.example.com',
    scopes: ['openid'],
  })
  return { idpId, projectId, humans: [], ungranted: [] }
}
