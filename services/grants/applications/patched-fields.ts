import type { PatchApplicationRequest } from '#gen/roster/grants/v1/application_service'
import type { Violation } from '#lib/errors'
import { registry } from '#lib/registry'

type Config = 'oidcConfig' | 'apiConfig'

/** What a patch changes: fields by their names in JSON. */
export interface PatchedFields {
  name: boolean
  /** The settings, by the type that they are of. */
  settings: Map<Config, Set<string>>
}

/** The fields that a patch changes: those of its mask, else those that it sends. */
export function patchedFields(request: PatchApplicationRequest): PatchedFields {
  const paths = request.updateMask?.flatMap((path) => known.get(path) ?? []) ?? sentPaths(request)
  const settings = new Map<Config, Set<string>>()
  // Also without a field, a request says by it of which type the application is.
  if (request.config) settings.set(request.config.$case, new Set())
  for (const path of paths) {
    const [config, field] = path.split('.') as [Config, string?]
    if (field === undefined) continue
    settings.set(config, (settings.get(config) ?? new Set()).add(field))
  }
  return { name: paths.includes('name'), settings }
}

/** The faults of a mask: a path that is none, and what is sent without being named. */
export function faultsOfMask(request: PatchApplicationRequest): Violation[] {
  const { updateMask, name } = request
  if (!updateMask) return []
  const unknown = [...new Set(updateMask)].filter((path) => !known.has(path)).slice(0, mostNamed)
  const masked = new Set(updateMask.flatMap((path) => known.get(path) ?? []))
  return [
    ...unknown.map((path) => ({ field: 'updateMask', description: `has ${shown(path)}, which can not be changed so` })),
    ...sentPaths(request)
      .filter((path) => !masked.has(path))
      .map((field) => ({ field, description: 'is sent, but not in updateMask' })),
    ...(masked.has('name') && name === undefined ? [{ field: 'name', description: 'must not be empty' }] : []),
  ]
}

// A long path is somebody's text.
function shown(path: string): string {
  const camel = path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return camel.length > 100 ? `${camel.slice(0, 100)}…` : camel
}

/** Of unknown paths, which a stranger may send by the thousand. */
const mostNamed = 20

/** Each path as a mask has it, with the fields that it means. */
const known = readPaths()

function readPaths(): Map<string, string[]> {
  const paths = new Map([['name', ['name']]])
  for (const config of registry.getMessage('roster.grants.v1.PatchApplicationRequest')!.oneofs[0]!.fields) {
    const fields = config.message!.fields.map((field) => [`${config.name}.${field.name}`, jsonPath(config, field)])
    paths.set(
      config.name,
      fields.map(([, path]) => path!),
    )
    for (const [name, path] of fields) paths.set(name!, [path!])
  }
  return paths
}

function jsonPath(config: { jsonName: string }, field: { jsonName: string }): string {
  return `${config.jsonName}.${field.jsonName}`
}

// Without presence, an empty list is one that is not sent.
function sentPaths({ name, config }: PatchApplicationRequest): string[] {
  const settings = Object.entries(config?.value ?? {}).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
  return [...(name === undefined ? [] : ['name']), ...settings.map(([field]) => `${config!.$case}.${field}`)]
}
