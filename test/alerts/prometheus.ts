import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { alerts } from '../../deploy/prometheus/alerts.ts'
import { rulesOf } from '../../deploy/prometheus/rules.ts'
import { daemon } from '../../deploy/local/daemon.ts'
import type { Home } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { findProgram } from '../../deploy/local/servers/program.ts'
import { serviceNames } from '../../deploy/local/service-environment.ts'

/** A Prometheus that reads the metrics of a running Roster. */
export interface Prometheus {
  /** The alerts that fire now, such as `RosterServiceDown users`. */
  firing(): Promise<string[]>
  /** The alerts that fire, or will soon. */
  active(): Promise<string[]>
  stop(): Promise<void>
}

/** Labels that belong to the name of an alert here. */
const named = ['service', 'roster_server', 'roster_parked_by']

/** Starts Prometheus with the rules of Roster, whose times are shortened by `scale`. */
export async function startPrometheus(home: Home, firstMetricsPort: number, scale: number): Promise<Prometheus> {
  const command = await findPrometheus()
  const folder = join(home.dir, 'prometheus')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'roster.rules.yml'), rulesOf(alerts(scale), '500ms'))
  writeFileSync(join(folder, 'prometheus.yml'), settings(firstMetricsPort))
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const server = daemon(home, {
    name: 'prometheus',
    kind: 'server',
    command,
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    stopSignal: 'SIGTERM',
    ready: async () => (await fetch(`${url}/-/ready`)).ok,
  })
  await server.start()
  while (!(await seesAll(url))) await sleep(250)

  async function read(isMeant: (state: string) => boolean): Promise<string[]> {
    const answer = await fetch(`${url}/api/v1/alerts`)
    const { data } = (await answer.json()) as { data: { alerts: Found[] } }
    return data.alerts.filter(({ state }) => isMeant(state)).map(nameOf)
  }

  return {
    firing: () => read((state) => state === 'firing'),
    active: () => read(() => true),
    stop: () => server.stop(),
  }
}

/** Finds the program, or installs Debian's. Rejects with one sentence that says what to do. */
export async function findPrometheus(): Promise<string> {
  const wanted = { program: 'prometheus', debianPackage: 'prometheus', image: '' }
  const found = await findProgram(wanted, console.log)
  if ('path' in found) return found.path
  throw new Error('prometheus is missing: install it (Debian and Ubuntu: sudo apt install prometheus).')
}

async function seesAll(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent('count(up{job="roster"} == 1)')}`)
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } }
  return Number(data.result[0]?.value[1]) === serviceNames.length
}

interface Found {
  state: string
  labels: Record<string, string>
}

function nameOf({ labels }: Found): string {
  return [labels['alertname'], ...named.flatMap((label) => labels[label] ?? [])].join(' ')
}

function settings(firstPort: number): string {
  const targets = serviceNames.map(
    (service, index) => `      - { targets: ['localhost:${firstPort + index}'], labels: { service: ${service} } }`,
  )
  return [
    'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms }',
    'rule_files: [roster.rules.yml]',
    'scrape_configs:',
    '  - job_name: roster',
    '    static_configs:',
    ...targets,
    '',
  ].join('\n')
}
