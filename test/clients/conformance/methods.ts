import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { type Method, methods as roster, offered as operations } from '../../../lib/rpc/methods.ts'
import { registry } from './registry.ts'

export * from '../../../lib/rpc/methods.ts'

const access = {
  permission: '',
  scope: 'organization',
  resource: '',
  orSelf: false,
  orNamed: '',
  orPermission: '',
  project: '',
  anyAudience: false,
  knowsCaller: false,
}

/** The methods of Roster, and those of the suite that a service of Roster may have. Any client may call these. */
export const methods: ReadonlyMap<string, Method> = new Map([...roster, ...ofSuite()])
export const offered: readonly Method[] = [...operations, ...new Map(ofSuite()).values()]

function ofSuite() {
  const { methods, typeName } = registry.getService('connectrpc.conformance.v1.ConformanceService')!
  return methods
    .filter(({ name }) => ['Unary', 'IdempotentUnary', 'ServerStream'].includes(name))
    .map((desc): [string, Method] => {
      const subject = `${typeName}.${desc.name}`
      const streams = desc.methodKind === 'server_streaming'
      return [
        subject,
        {
          desc,
          path: `/${typeName}/${desc.name}`,
          subject,
          access: { ...access, rule: 'public', scope: 'organization' },
          http: undefined,
          moreHttp: [],
          oauth: undefined,
          page: false,
          form: undefined,
          anyOrigin: false,
          namedOrigins: false,
          // Each stream of Roster reads.
          reads: streams || desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
          repeatable: false,
          streams,
          items: undefined,
          danger: false,
          isNew: false,
          deprecatedSince: undefined,
        },
      ]
    })
}
