import { type DescEnumValue, type DescField, type DescMethod, getOption, isMessage, toJson } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { isNew } from '../health/release.ts'
import { registry } from '../registry.ts'

/** The callers that a method allows: `roster.options.v1.Access` in plain words. */
export interface Access {
  rule: 'public' | 'authenticated' | 'permission' | 'internal'
  /** Only with rule "permission". */
  permission: string
  scope: 'organization' | 'instance' | 'resource'
  /** Only with scope "resource": the request field, in proto spelling, that holds the id of the object. */
  resource: string
  orSelf: boolean
  /** The request field, in proto spelling, that names the object where `resource` is empty. Or empty. */
  orNamed: string
  orPermission: string
  /** The request field, in proto spelling, that names a project in which the permission is enough. Or empty. */
  project: string
  /** Whether an access token for a project is enough. */
  anyAudience: boolean
  /** Only with rule "public": whether a caller with a valid token is known by it. */
  knowsCaller: boolean
}

/** One method as the contract declares it. */
export interface Method {
  desc: DescMethod
  /** `/roster.users.v1.UserService/SetEmail` */
  path: string
  /** `roster.users.v1.UserService.SetEmail` */
  subject: string
  access: Access
  /** Its HTTP route; internal methods have none. */
  http: HttpRule | undefined
  /** Further routes to it. */
  moreHttp: HttpRule[]
  /** The method speaks to OAuth 2.0 clients over HTTP. Anybody may cache a `document`. */
  oauth: 'call' | 'document' | undefined
  /** The method is offered to browsers alone, as a page. */
  page: boolean
  /** A form of a page calls it: where it is posted, and the page that follows. */
  form: { path: string; next: string } | undefined
  /** Pages of any origin may call it over HTTP. */
  anyOrigin: boolean
  /** No page of another origin may call it but of those that CORS_ORIGINS names: it checks or sends a secret. */
  namedOrigins: boolean
  /** Whether it changes nothing. */
  reads: boolean
  /**
   * Whether a second request in place of a silent first one does no harm: of a write, under an Idempotency-Key. No
   * secret is checked twice, and no page asked. What waits for events is silent by intent.
   */
  repeatable: boolean
  /** Whether its answers are a stream of messages. */
  streams: boolean
  /** The list of a bulk: each item counts as one call. */
  items: DescField | undefined
  /** A caller in the console needs a factor that was checked of late. */
  danger: boolean
  /** It waits while a replica of the former release runs, which could not go on with what it leaves. */
  isNew: boolean
  /** Unix time in seconds of its deprecation. */
  deprecatedSince: number | undefined
}

/** One HTTP route. */
export interface HttpRule {
  verb: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'
  template: string
  hasBody: boolean
}

/** Every method of every service of Roster, by its subject. Throws when a method lacks its access option. */
export const methods: ReadonlyMap<string, Method> = readMethods()

/** The operations: what every encoding offers. Internal methods and pages are none. */
export const offered: readonly Method[] = [...methods.values()].filter(
  ({ access, page }) => access.rule !== 'internal' && !page,
)

/** The method with this full name, in dots, such as `roster.users.v1.UserService.SetEmail`. */
export function method(subject: string): Method {
  const found = methods.get(subject)
  if (!found) throw new Error(`${subject} is no method of proto/`)
  return found
}

function readMethods() {
  const found = new Map<string, Method>()
  for (const type of registry) {
    if (type.kind !== 'service' || !type.typeName.startsWith('roster.')) continue
    for (const desc of type.methods) {
      const subject = `${type.typeName}.${desc.name}`
      const [http, ...moreHttp] = readHttp(desc)
      const page = option(desc, 'roster.options.v1.page') === true
      const access = readAccess(desc, subject)
      const anyOrigin = option(desc, 'roster.options.v1.any_origin') === true
      // The GET of a page may give a code.
      const reads =
        (http?.verb === 'GET' && !page) || desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
      const streams = desc.methodKind === 'server_streaming'
      const waits = desc.input.field['waitSeconds'] !== undefined
      const checksSecret = option(desc, 'roster.options.v1.checks_secret') === true
      found.set(subject, {
        desc,
        path: `/${type.typeName}/${desc.name}`,
        subject,
        access,
        http,
        moreHttp,
        oauth: ([undefined, 'call', 'document'] as const)[Number(option(desc, 'roster.options.v1.oauth'))],
        page,
        form: readForm(desc),
        anyOrigin,
        // Without a token, a secret in the request is what lets it do something.
        namedOrigins: access.rule === 'public' && !reads && !page && !anyOrigin,
        reads,
        repeatable: !page && !streams && !waits && !checksSecret && (reads || access.rule !== 'public'),
        streams,
        items: readItems(desc, subject),
        danger: option(desc, 'roster.options.v1.danger') === true,
        isNew: isNew(option(desc, 'roster.options.v1.since') as string),
        deprecatedSince: Number(option(desc, 'roster.options.v1.deprecated_since')) || undefined,
      })
    }
  }
  return found
}

function readAccess(desc: DescMethod, subject: string): Access {
  const access = option(desc, 'roster.options.v1.access') as Partial<AccessOption>
  const rule = (['public', 'authenticated', 'permission', 'internal'] as const).find((name) => access[name])
  if (!rule) throw new Error(`${subject} lacks its access option`)
  const { permission = '', scope = '', resource = '', orSelf = false, orNamed = '', project = '' } = access
  const { orPermission = '' } = access
  const { anyAudience = false, knowsCaller = false } = access
  return {
    rule,
    permission,
    scope: toScope(scope),
    resource,
    orSelf,
    orNamed,
    orPermission,
    project,
    anyAudience,
    knowsCaller,
  }
}

// The option in canonical JSON.
interface AccessOption {
  public: boolean
  authenticated: boolean
  permission: string
  internal: boolean
  scope: string
  resource: string
  orSelf: boolean
  orNamed: string
  orPermission: string
  project: string
  anyAudience: boolean
  knowsCaller: boolean
}

function toScope(name: string): Access['scope'] {
  if (name === 'SCOPE_INSTANCE') return 'instance'
  return name === 'SCOPE_RESOURCE' ? 'resource' : 'organization'
}

function readItems(desc: DescMethod, subject: string): DescField | undefined {
  const name = option(desc, 'roster.options.v1.items') as string
  if (name === '') return undefined
  const field = desc.input.fields.find((candidate) => candidate.name === name)
  if (field?.fieldKind !== 'list') throw new Error(`${subject} has no list ${name}`)
  return field
}

function readForm(desc: DescMethod): Method['form'] {
  const { path, next } = option(desc, 'roster.options.v1.form') as Partial<NonNullable<Method['form']>>
  return path && next ? { path, next } : undefined
}

function readHttp(desc: DescMethod): HttpRule[] {
  const { additionalBindings = [], ...rule } = option(desc, 'google.api.http') as HttpOption
  return [rule, ...additionalBindings].flatMap((binding) => {
    for (const verb of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const) {
      const template = binding[verb.toLowerCase()]
      if (template) return [{ verb, template, hasBody: binding['body'] === '*' }]
    }
    return []
  })
}

// The option in canonical JSON.
type HttpOption = Record<string, string | undefined> & { additionalBindings?: Record<string, string | undefined>[] }

/** The value of an option of proto/, a message in canonical JSON. */
export function option(desc: DescMethod | DescEnumValue, name: string): unknown {
  const extension = registry.getExtension(name)
  if (!extension) throw new Error(`${name} is no extension of proto/`)
  const value: unknown = getOption(desc, extension)
  return isMessage(value) ? toJson(registry.getMessage(value.$typeName)!, value, { registry }) : value
}
