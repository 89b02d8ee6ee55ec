import { randomInt } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { type ServiceName, serviceNames } from '../../deploy/local/service-environment.ts'
import { callJson } from '../e2e/clients/json.ts'
import type { Operation } from '../examples/contract.ts'
import { type Running, startRunning } from '../faults/running.ts'
import { grown, readSamples, type Samples, series } from './samples.ts'

/** A running Roster whose metrics a test compares with the work that it brought. */
export interface Metered {
  running: Running
  /** For a call as the administrator. */
  caller: { url: string; token: string }
  /** Calls an operation as the administrator. Throws the error that it answers. */
  act(operation: Operation, request: JsonObject): Promise<any>
  read(): Promise<Record<ServiceName, Samples>>
  /** From now on, `growth` counts. */
  reset(): Promise<void>
  /** By how much each series of the metric has grown since `reset`. */
  growth(service: ServiceName, name: string): Promise<Record<string, number>>
  stop(): Promise<void>
}

/**
 * Starts it with metrics on five ports in a row, somewhere in the thousand from `ports` on. Servers of other tests have
 * those up to 29,999 (`freePort`), and from 32,768 on a connection of another process may have one of them.
 */
export async function startMetered(ports: number, environment: Record<string, string>): Promise<Metered> {
  const firstPort = randomInt(ports, ports + 1000)
  const running = await startRunning({
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(firstPort),
    ...environment,
  })
  const caller = { url: running.url, token: running.adminToken }
  const read = async () => {
    const texts = serviceNames.map(async (name, index) => {
      const response = await fetch(`http://localhost:${firstPort + index}/metrics`)
      return [name, readSamples(await response.text())] as const
    })
    return Object.fromEntries(await Promise.all(texts)) as Record<ServiceName, Samples>
  }
  let before = await read()
  return {
    running,
    caller,
    read,
    async act(operation, request) {
      const { ok, error } = await callJson(operation, request, caller)
      if (error) throw new Error(`${operation}: ${JSON.stringify(error)}`)
      return ok
    },
    async reset() {
      before = await read()
    },
    growth: async (service, name) => grown(before[service], (await read())[service], name),
    stop: () => running.stop(),
  }
}

const systems = { json: 'http', oauth: 'http', grpc: 'grpc', 'grpc-web': 'grpc', connect: 'connectrpc', nats: 'nats' }

/** The labels of a call. */
export const ofCall = (method: string, encoding: keyof typeof systems, status = 'OK', more = {}) =>
  series({
    rpc_method: method,
    roster_encoding: encoding,
    rpc_status_code: status,
    rpc_system_name: systems[encoding],
    ...more,
  })
