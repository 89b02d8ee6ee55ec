import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { SAMLConfig } from '#gen/roster/idp/v1/idp_config'
import type { Violation } from '#lib/errors'
import { faultOfCalled } from './check-urls.ts'
import type { Context } from './context.ts'
import type { Configurations } from './vocabulary.ts'

type Metadata = NonNullable<SAMLConfig['metadata']>

/** Checks the metadata that a request has. */
export function checkMetadata(context: Context, { metadata }: { metadata?: Metadata | undefined }): Violation[] {
  if (!metadata) return []
  const { $case: field, value } = metadata
  const description = field === 'metadataUrl' ? faultOfCalled(context, value) : faultOfXml(value)
  return description === undefined ? [] : [{ field, description }]
}

/** The metadata as it is stored. */
export function readMetadata(metadata: Metadata): Pick<Configurations['saml'], 'metadataXml' | 'metadataUrl'> {
  if (metadata.$case === 'metadataUrl') return { metadataXml: '', metadataUrl: metadata.value }
  return { metadataXml: metadata.value.toString('utf8'), metadataUrl: '' }
}

const mostBytes = 100_000

/**
 * The fault of a description in XML: it must be one well-formed document of UTF-8, without a DOCTYPE, which could
 * declare entities. Its reader must not find anything here that this misses.
 */
export function faultOfXml(bytes: Uint8Array): string | undefined {
  if (bytes.length > mostBytes) return `must have at most ${mostBytes} bytes`
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'must be UTF-8'
  }
  if (unstorable.test(text)) return 'must not contain control characters'
  // Also within comments: no two readers must differ on where a comment ends.
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return 'must not have a DOCTYPE'
  if (text.replace(/^<\?xml\s/, '').includes('<?')) return 'must not have processing instructions'
  const declared = /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1]
  if (declared !== undefined && !/^utf-8$/i.test(declared)) return 'must be UTF-8'
  const root = rootOf(text)
  if (!root) return 'must be one well-formed document of XML'
  const [, prefix, name] = /^(?:(.*?):)?(.*)$/.exec(root.name)!
  const namespace = root.attributes[prefix === undefined ? 'xmlns' : `xmlns:${prefix}`]
  const isMetadata = name === 'EntityDescriptor' && namespace === 'urn:oasis:names:tc:SAML:2.0:metadata'
  if (!isMetadata) return 'must be one SAML EntityDescriptor'
  if (!root.attributes['entityID']) return 'must have an entityID'
  return locationsOf(root).every(isHttp) ? undefined : 'must have only http and https in its Locations'
}

// Browsers are sent there.
function locationsOf({ attributes, children }: XmlElement): string[] {
  const own = ['Location', 'ResponseLocation'].flatMap((name) => attributes[name] ?? [])
  return [...own, ...children.flatMap((child) => (child instanceof XmlElement ? locationsOf(child) : []))]
}

function isHttp(location: string): boolean {
  return /^https?:$/.test(URL.parse(location)?.protocol ?? '')
}

// Undefined also where elements are nested so deeply that the parser gives up.
function rootOf(text: string): XmlElement | undefined {
  try {
    return parseXml(text).root ?? undefined
  } catch {
    return undefined
  }
}

// XML allows no control characters but tab and line ends.
// oxlint-disable-next-line no-control-regex
const unstorable = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/
