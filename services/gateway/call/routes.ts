import type { DescField } from '@bufbuild/protobuf'
import { type HttpRule, type Method, methods, offered } from '#lib/rpc/methods'
import { compatibleMethods } from '../../../compat/zitadel/translation/compatible-methods.ts'

/** A path variable and the request field that it fills. */
export interface Variable {
  field: DescField
  /** The text in the path, percent-encoding included. */
  text: string
}

/** The method that a verb and path lead to. */
export interface Match {
  method: Method
  variables: Variable[]
  /** The route, such as `/v2/users/{user_id}`. */
  template: string
  /** Browsers alone ask there: a page, or a form of one. */
  isPage: boolean
}

/** Offered methods by gRPC path, `/package.Service/Method`, also by that of the reference system. */
export const byGrpcPath: ReadonlyMap<string, Method> = new Map(
  [...offered, ...compatibleMethods].map((method) => [method.path, method]),
)

/**
 * Finds where the `google.api.http` rules lead from this path, by verb. Empty where no rule has the path. Where several
 * rules fit, a literal segment wins over a variable.
 */
export function findRoutes(path: string): Map<string, Match> {
  const found = new Map<string, Match>()
  collect(root, path.split('/'), 1, [], found)
  return found
}

/**
 * The verbs that a path is advertised with: those of the rule that fits best. So `/idps/_search` does not offer what
 * `/idps/{idp_id}` has, although a call with such a verb reaches an object with that id.
 */
export function offeredVerbs(routes: ReadonlyMap<string, Match>): string[] {
  const shapeOf = ({ template }: Match) => template.replaceAll(/\{\w+/g, '{')
  const [best] = routes.values()
  return [...routes].filter(([, match]) => shapeOf(match) === shapeOf(best!)).map(([verb]) => verb)
}

interface Node {
  literals: Map<string, Node>
  variable: Node | undefined
  leaves: Leaf[]
  /** Of a variable at the end that takes the rest of the path, slashes included: `{role_key=**}`. */
  rest: Leaf[]
}

interface Leaf {
  verb: string
  method: Method
  fields: DescField[]
  template: string
  isPage: boolean
}

const root = createNode()
// Pages have routes, too.
for (const method of methods.values()) if (method.access.rule !== 'internal') add(method)

function createNode(): Node {
  return { literals: new Map(), variable: undefined, leaves: [], rest: [] }
}

function add(method: Method) {
  for (const rule of [...(method.http ? [method.http] : []), ...method.moreHttp]) addRule(method, rule, method.page)
  if (method.form) addRule(method, { verb: 'POST', template: method.form.path }, true)
}

function addRule(method: Method, { verb, template }: Pick<HttpRule, 'verb' | 'template'>, isPage: boolean) {
  const fields: DescField[] = []
  let node = root
  const segments = template.split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const [, name, isRest] = /^\{(\w+)(=\*\*)?\}$/.exec(segment) ?? []
    if (name === undefined) {
      if (!/^[\w.-]+$/.test(segment)) throw new Error(`${method.subject}: the gateway cannot route ${template}`)
      node = node.literals.get(segment) ?? node.literals.set(segment, createNode()).get(segment)!
      continue
    }
    const field = method.desc.input.fields.find((candidate) => candidate.name === name)
    if (!field) throw new Error(`${method.subject}: ${template} names no field of the request`)
    fields.push(field)
    if (isRest && index === segments.length - 1) return addLeaf(node.rest)
    if (isRest) throw new Error(`${method.subject}: the gateway cannot route ${template}`)
    node = node.variable ??= createNode()
  }
  addLeaf(node.leaves)

  function addLeaf(leaves: Leaf[]) {
    if (leaves.some((leaf) => leaf.verb === verb)) throw new Error(`two methods share ${verb} ${template}`)
    leaves.push({ verb, method, fields, template, isPage })
  }
}

function collect(node: Node, segments: string[], index: number, values: string[], found: Map<string, Match>) {
  const take = (leaves: Leaf[], texts: string[]) => {
    for (const { verb, method, fields, template, isPage } of leaves) {
      const variables = fields.map((field, at) => ({ field, text: texts[at]! }))
      if (!found.has(verb)) found.set(verb, { method, template, isPage, variables })
    }
  }
  if (index === segments.length) return take(node.leaves, values)
  const segment = segments[index]!
  const literal = node.literals.get(segment)
  if (literal) collect(literal, segments, index + 1, values, found)
  if (node.variable && segment !== '') collect(node.variable, segments, index + 1, [...values, segment], found)
  const rest = node.rest.length === 0 ? '' : segments.slice(index).join('/')
  if (rest !== '') take(node.rest, [...values, rest])
}
