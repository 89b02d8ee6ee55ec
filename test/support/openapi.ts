import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** The parts of an OpenAPI document that tests look at. */
export interface OpenApi {
  openapi: string
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: Record<string, Record<string, any>>
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  description: string
  deprecated?: boolean
  security: Record<string, string[]>[]
  parameters: any[]
  requestBody?: { required: boolean; content: Record<string, { schema: any; example?: any }> }
  responses: Record<string, any>
}

/** Every operation of a document with its verb and path. */
export function operationsOf({ paths }: OpenApi) {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
  )
}

/** Returns the object that a reference of the document leads to, or the object itself. */
export function resolve(document: OpenApi, part: any): any {
  if (typeof part?.$ref !== 'string') return part
  const found = (part.$ref as string)
    .slice('#/'.length)
    .split('/')
    .reduce((at: any, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document)
  if (found === undefined) throw new Error(`${part.$ref} leads nowhere`)
  return resolve(document, found)
}

/** Returns a function that names the faults of a value by a schema of the document. */
export function createChecker(document: OpenApi): (schema: AnySchema, value: unknown) => string[] {
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false })
  addFormats.default(ajv)
  ajv.addSchema(relocate({ $id: home, $defs: document.components['schemas'] }))
  return (schema, value) => {
    const check = ajv.compile(relocate(schema))
    return check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

const home = 'https://roster.test/schemas'

// A schema that stands alone does not know the document around it.
function relocate(schema: AnySchema): AnySchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${home}#/$defs/`)) as object
}
