import { type DescField, type DescMethod, getOption, type Message } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { type Method, method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { type ListFields, listFields } from './list-fields.ts'
import { equalOf, type Plan, plan } from './plan.ts'

/** How the gateway serves a method of the reference system. */
export interface Translation {
  /** The method of Roster, and the plans of its messages. */
  usual: Meaning
  /** Other methods that it means where a field of the request is set. */
  special: (Meaning & { isMeant(request: Message): boolean })[]
}

/** A method of Roster that a method of the reference system means. */
export interface Meaning {
  method: Method
  request: Plan
  answer: Plan
  /** Set where the answer is a list, of which the request asks for a page. */
  list: ListFields | undefined
}

const translations = new Map<Method, Translation>()

/**
 * The methods of the reference system that Roster has an equal for, each under its own name and with its own messages.
 * Everything else of it is that of the method of Roster.
 */
export const compatibleMethods: Method[] = [...registry].flatMap((type) =>
  type.kind === 'service' ? type.methods.flatMap(readMethod) : [],
)

/** The translation of a method of the reference system; undefined for a method of Roster. */
export function translationOf(method: Method): Translation | undefined {
  return translations.get(method)
}

const packages = new Set(compatibleMethods.map(({ desc }) => rootOf(desc.parent.typeName)))

/** Whether a path of gRPC is of the reference system. */
export function isForeign(path: string): boolean {
  return packages.has(rootOf(path.slice(1)))
}

function rootOf(name: string): string {
  return name.slice(0, name.indexOf('.'))
}

/** The method under its foreign name; none where its proto names no method of Roster. Throws where both do not fit. */
export function readMethod(desc: DescMethod): Method[] {
  const means = getOption(desc, registry.getExtension('roster.options.v1.means')!) as string
  if (means === '') return []
  const usual = readMeaning(desc, means, undefined)
  const special = fieldsWithMeaning(desc).map((field) => ({
    ...readMeaning(desc, equalOf(field).means, field),
    isMeant: (request: Message) => reflect(desc.input, request).isSet(field),
  }))
  for (const other of special) checkLike(usual.method, other.method, desc)
  const { items, ...shared } = usual.method
  const compatible: Method = {
    ...shared,
    desc,
    path: `/${desc.parent.typeName}/${desc.name}`,
    http: undefined,
    moreHttp: [],
    items: items && usual.request.entries.find(({ path }) => path[0] === items)?.field,
  }
  translations.set(compatible, { usual, special })
  return [compatible]
}

function fieldsWithMeaning({ input }: DescMethod): DescField[] {
  return input.fields.filter((field) => equalOf(field).means !== '')
}

function readMeaning(desc: DescMethod, means: string, chosenBy: DescField | undefined): Meaning {
  const meant = method(means)
  if (meant.access.rule === 'internal' || meant.streams || meant.oauth)
    throw new Error(`${desc.toString()} cannot mean ${means}`)
  const others = new Set(fieldsWithMeaning(desc).filter((field) => field !== chosenBy))
  const { oneof } = chosenBy ?? {}
  const skip = (field: DescField) =>
    others.has(field) || (oneof !== undefined && field.oneof === oneof && field !== chosenBy)
  const request = plan('request', desc.input, meant.desc.input, skip)
  // What the answer says of another member of the oneof has the same name.
  const elsewhere = new Set(desc.input.fields.filter((field) => field.oneof && skip(field)).map(({ name }) => name))
  const answer = plan('answer', desc.output, meant.desc.output, ({ name }) => elsewhere.has(name))
  return { method: meant, request, answer, list: listFields(request, answer) }
}

// The caller is identified, and the call counted, before the request is read.
function checkLike(usual: Method, other: Method, desc: DescMethod): void {
  const facts = ({ access, reads, items }: Method) => JSON.stringify([access, reads, items?.number])
  if (facts(usual) !== facts(other)) throw new Error(`${desc.toString()} means methods that are unlike`)
}
