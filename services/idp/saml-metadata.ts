import type { SAMLConfig } from '#gen/roster/idp/v1/idp_config'
import type { Violation } from '#lib/errors'
import { faultOf } from './check-urls.ts'
import type { Context } from './context.ts'
import type { Configurations } from './vocabulary.ts'

type Metadata = NonNullable<SAMLConfig['metadata']>

/** Checks the metadata that a request has. */
export function checkMetadata(_context: Context, { metadata }: { metadata?: Metadata | undefined }): Violation[] {
  if (!metadata) return []
  const { $case: field, value } = metadata
  const description = field === 'metadataUrl' ? faultOf(value) : faultOfXml(value)
  return description === undefined ? [] : [{ field, description }]
}

/** The metadata as it is stored. */
export function readMetadata(metadata: Metadata): Pick<Configurations['saml'], 'metadataXml' | 'metadataUrl'> {
  if (metadata.$case === 'metadataUrl') return { metadataXml: '', metadataUrl: metadata.value }
  return { metadataXml: metadata.value.toString('utf8'), metadataUrl: '' }
}

const mostBytes = 100_000

/**
 * The fault of a description in XML, as far as it shows without reading the XML. Its reader must not find anything here
 * that this misses. So there is one encoding, and no DOCTYPE, which could declare entities.
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
  if (text.lastIndexOf('<?') > 0) return 'must not have processing instructions'
  const declared = /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1]
  if (declared !== undefined && !/^utf-8$/i.test(declared)) return 'must be UTF-8'
  return isEntityDescriptor(text) ? undefined : 'must be one SAML EntityDescriptor'
}

function isEntityDescriptor(text: string): boolean {
  const start = /^<([A-Za-z_][\w.-]*:)?EntityDescriptor\s/.exec(withoutProlog(text))
  if (!start || !text.includes('urn:oasis:names:tc:SAML:2.0:metadata')) return false
  return text.trimEnd().endsWith(`</${start[1] ?? ''}EntityDescriptor>`)
}

// A regular expression over many comments could take very long.
function withoutProlog(text: string): string {
  let rest = text.replace(/^<\?[^>]*\?>/, '').trimStart()
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->', 4)
    if (end === -1) return ''
    rest = rest.slice(end + 3).trimStart()
  }
  return rest
}

// XML allows no control characters but tab and line ends.
// oxlint-disable-next-line no-control-regex
const unstorable = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/
