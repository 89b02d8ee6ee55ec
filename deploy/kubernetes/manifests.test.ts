import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { documentLines } from '#test/support/document-lines'

// No cluster is at hand: these compare the manifests with each other, and with the lines of docs/backup.md.
const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'))
const all = files.flatMap((name) =>
  parseAllDocuments(readFileSync(join(import.meta.dirname, name), 'utf8')).map((document) => document.toJS()),
)
const named = (kind: string, name: string) =>
  all.find((object) => object.kind === kind && object.metadata.name === name)
const pods = all.flatMap((object) =>
  object.kind === 'Pod' ? [object] : object.kind === 'Deployment' || object.kind === 'Job' ? [podOf(object)] : [],
)
const operator = named('Pod', 'operator')

describe('network.yaml', () => {
  const ofServers = pods.filter((pod) => nameOf(pod) !== 'setup')
  test.each(ofServers.map((pod) => [nameOf(pod), pod] as const))('lets the pod of %s to its servers', (_, pod) => {
    const open = pod.spec.containers[0].envFrom.flatMap(({ secretRef }: any) => urlsIn(secretRef?.name)).map(portOf)
    expect(open.length).toBeGreaterThan(0)
    for (const port of open) expect(reaches(pod, port), String(port)).toBe(true)
  })

  test('lets idp to identity providers, and those that call nobody outside to no address of theirs', () => {
    const named = (name: string) => pods.find((pod) => nameOf(pod) === name)
    expect(['idp', 'notifier', 'users', 'grants', 'gateway'].map((name) => reaches(named(name), 443))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })

  test('lets the pod of the operator to the gateway, by the URL of docs/backup.md, and to no other pod', () => {
    const url = new URL(/--url (\S+)/.exec(documentLines('backup.md', 'kubernetes-repeat-removals'))![1]!)
    const { spec } = named('Service', url.hostname)
    const { targetPort } = spec.ports.find(({ port }: any) => port === Number(url.port))
    const gateway = pods.find((pod) => matches({ matchLabels: spec.selector }, pod))
    const { containerPort } = gateway.spec.containers[0].ports.find(({ name }: any) => name === targetPort)
    expect(reaches(operator, containerPort, gateway)).toBe(true)
    expect(admits(gateway, containerPort)).toBe(true)
    const [users, health] = [pods.find((pod) => nameOf(pod) === 'users'), 8086]
    expect([reaches(operator, health, users), admits(users, health)]).toEqual([false, false])
  })
})

describe('setup.example.yaml', () => {
  const job = named('Job', 'setup')
  const [container] = podOf(job).spec.containers
  const commands = readFileSync(join(import.meta.dirname, 'setup.example.yaml'), 'utf8')
    .match(/^# {3}.*$/gm)!
    .join('\n')
  const argument = (name: string) => container.args.find((one: string) => one.startsWith(`--${name}=`)).split('=')[1]

  test('reaches the gateway, and no server', () => {
    const url = new URL(argument('url'))
    const { spec } = named('Service', url.hostname)
    const { targetPort } = spec.ports.find(({ port }: any) => port === Number(url.port))
    const gateway = pods.find((pod) => matches({ matchLabels: spec.selector }, pod))
    const { containerPort } = gateway.spec.containers[0].ports.find(({ name }: any) => name === targetPort)
    expect(reaches(podOf(job), containerPort, gateway)).toBe(true)
    for (const port of [5432, 4222, 6379, 443]) expect(reaches(podOf(job), port), String(port)).toBe(false)
  })

  test('reads the file and the token where its volumes have them, of objects that its commands and secrets.example.yaml make', () => {
    const source = (path: string) => {
      const mount = container.volumeMounts.find(({ mountPath }: any) => path.startsWith(`${mountPath}/`))
      const volume = podOf(job).spec.volumes.find(({ name }: any) => name === mount.name)
      return { volume, key: path.slice(mount.mountPath.length + 1) }
    }
    const [program, ...command] = container.args
    expect([program, command.slice(0, 2)]).toEqual(['roster.mjs', ['setup', 'apply']])
    const file = source(command[2])
    expect(commands).toContain(`create configmap ${file.volume.configMap.name} --from-file=${file.key}`)
    const token = source(argument('token-file'))
    expect(named('Secret', token.volume.secret.secretName).stringData).toHaveProperty(token.key)
    for (const { secretRef } of container.envFrom) expect(named('Secret', secretRef.name)).toBeDefined()
  })

  test('has the image and the rights of the operator', () => {
    const { image, securityContext } = operator.spec.containers[0]
    expect({ image: container.image, securityContext: container.securityContext }).toEqual({ image, securityContext })
    expect(podOf(job).spec.securityContext).toEqual(operator.spec.securityContext)
    for (const [line] of commands.matchAll(/kubectl .*/g)) expect(line).toMatch(/-n roster|apply -f -/)
  })
})

describe('the steps of docs/backup.md in Kubernetes', () => {
  const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```sh (kubernetes-\S+)/g)].map(([, name]) => name!)
  const lines = blocks.map((name) => documentLines('backup.md', name)).join('')

  test('name files that the pod of the operator has a place for, which its user can write', () => {
    const { spec } = operator
    const places = spec.containers[0].volumeMounts.filter(({ name, readOnly }: any) => {
      const { emptyDir } = spec.volumes.find((volume: any) => volume.name === name)
      return emptyDir && !readOnly
    })
    const wanted = [...lines.matchAll(/(?<=\s|operator:)\/[a-z][\w/-]+/g)].map(([path]) => path)
    expect(wanted).toContain('/files/kept/receipts')
    for (const path of wanted)
      expect(
        places.some(({ mountPath }: any) => `${path}/`.startsWith(`${mountPath}/`)),
        path,
      ).toBe(true)
    expect(spec.securityContext.fsGroup).toBe(spec.securityContext.runAsGroup)
  })

  test('name objects that the manifests have', () => {
    const deployments = /^services='(.*)'$/m.exec(lines)![1]!.split(' ')
    const names = all.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name as string)
    expect(deployments.toSorted()).toEqual(names.toSorted())
    expect(lines).toContain('delete httproute roster')
    expect(named('HTTPRoute', 'roster')).toBeDefined()
    expect(lines).toContain('-l app.kubernetes.io/name=provision')
    expect(named('Job', 'provision').metadata.labels['app.kubernetes.io/name']).toBe('provision')
    const [, secret, key] = /get secret (\w+) -o 'jsonpath={\.data\.(\w+)}'/.exec(lines)!
    expect(named('Secret', secret!).stringData).toHaveProperty(key!)
  })
})

function podOf({ spec }: any): any {
  return spec.template
}

function nameOf({ metadata }: any): string {
  return metadata.labels['app.kubernetes.io/name']
}

function urlsIn(secret: string | undefined): string[] {
  const values = Object.values<string>(named('Secret', secret ?? '')?.stringData ?? {})
  return values.filter((value) => value.includes('://'))
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url)
  return Number(port) || { 'postgres:': 5432 }[protocol]!
}

function policies(type: 'Ingress' | 'Egress', pod: any): any[] {
  return all.filter(
    ({ kind, spec }) => kind === 'NetworkPolicy' && spec.policyTypes.includes(type) && matches(spec.podSelector, pod),
  )
}

/** Whether a pod may open a connection to this port of another pod, or of a server outside. */
function reaches(from: any, port: number, to?: any): boolean {
  return policies('Egress', from).some(({ spec }) =>
    (spec.egress ?? []).some(
      (rule: any) =>
        opens(rule, port) && (!rule.to || (to && rule.to.some((peer: any) => matches(peer.podSelector, to)))),
    ),
  )
}

function admits(to: any, port: number): boolean {
  return policies('Ingress', to).some(({ spec }) =>
    (spec.ingress ?? []).some((rule: any) => opens(rule, port) && !rule.from),
  )
}

function opens({ ports }: any, wanted: number): boolean {
  return ports.some(({ protocol, port }: any) => protocol === 'TCP' && port === wanted)
}

function matches({ matchLabels = {}, matchExpressions = [] }: any, { metadata: { labels } }: any): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, values }: any) => values.includes(labels[key]))
  )
}
