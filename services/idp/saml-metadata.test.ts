import { describe, expect, test } from 'vitest'
import { faultOfXml } from './saml-metadata.ts'

const root = 'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://i.example"'
const descriptor = `<md:EntityDescriptor ${root}><md:IDPSSODescriptor/></md:EntityDescriptor>`
const faultOf = (text: string, encoding: BufferEncoding = 'utf8') => faultOfXml(Buffer.from(text, encoding))

test.each([
  descriptor,
  descriptor.replaceAll('md:', '').replace('xmlns:md', 'xmlns'),
  `<?xml version="1.0" encoding="utf-8"?>\n<!-- one -->\n<!---->\n${descriptor}\n`,
  `\uFEFF<?xml version='1.0' encoding = 'UTF-8'?>${descriptor}`,
])('%s is metadata', (text) => expect(faultOf(text)).toBeUndefined())

describe('refuses all with which a reader could be deceived:', () => {
  test.each([
    ['a DOCTYPE', `<!DOCTYPE a [<!ENTITY b "c">]>${descriptor}`],
    ['a DOCTYPE in a comment', `<!--<!DOCTYPE a>-->${descriptor}`],
    ['a DOCTYPE in other letters', `<!doctype a>${descriptor}`],
    ['a declaration of an entity', descriptor.replace('<md:IDPSSODescriptor/>', '<!ENTITY a SYSTEM "file:///etc/passwd">')], // prettier-ignore
    ['another encoding', `<?xml version="1.0" encoding="utf-7"?>${descriptor}`],
    ['a processing instruction', `<?xml version="1.0"?><?xml-stylesheet href="a"?>${descriptor}`],
    ['a late declaration', ` <?xml version="1.0" encoding="utf-7"?>${descriptor}`],
    ['a control character', descriptor.replace('<md:IDP', '\0<md:IDP')],
    ['another document', '<a xmlns="urn:oasis:names:tc:SAML:2.0:metadata"></a>'],
    ['another namespace', descriptor.replace('SAML:2.0', 'SAML:1.1')],
    ['a second element', `${descriptor}<a/>`],
    ['two descriptors', `${descriptor}${descriptor}`],
    ['a processing instruction before the root', `<?xml-stylesheet href="a"?>${descriptor}`],
    ['end tags of others', descriptor.replace('<md:IDPSSODescriptor/>', '<md:A><md:B></md:A></md:B>')],
    ['an open element', descriptor.replace('<md:IDPSSODescriptor/>', '<md:A>')],
    ['an entity', descriptor.replace('<md:IDPSSODescriptor/>', '&a;')],
    ['an attribute twice', descriptor.replace('entityID', 'entityID="a" entityID')],
    ['a bare ampersand', descriptor.replace('https://i.example', 'https://i.example?a&b')],
    ['its namespace in a comment', `<EntityDescriptor><!-- ${root} --></EntityDescriptor>`],
    ['elements without an end to their depth', '<a>'.repeat(33_000)],
    ['an open comment', `<!-- ${descriptor}`],
    ['no entityID', descriptor.replace(' entityID="https://i.example"', '')],
    ['a script for a location', descriptor.replace('<md:IDPSSODescriptor/>', '<md:IDPSSODescriptor><md:S Location="javascript:alert(1)"/></md:IDPSSODescriptor>')], // prettier-ignore
    ['a cut document', descriptor.slice(0, -1)],
    ['nothing', ''],
    ['a text', 'metadata'],
  ])('%s', (_, text) => expect(faultOf(text)).toMatch(/^must /))

  test('other bytes than UTF-8', () => {
    expect(faultOf(descriptor, 'utf16le')).toMatch(/^must /)
    expect(faultOfXml(Buffer.concat([Buffer.from(descriptor), Buffer.of(0xff)]))).toBe('must be UTF-8')
  })

  test('more than 100,000 bytes', () => {
    const fill = (length: number) => descriptor.replace('<md:IDP', `${'x'.repeat(length)}<md:IDP`)
    const least = descriptor.length
    expect(faultOf(fill(100_000 - least))).toBeUndefined()
    expect(faultOf(fill(100_001 - least))).toMatch(/^must have at most/)
  })
})

test('any text of the largest size is checked in time', () => {
  const parts = [
    '<!---->',
    '<!--',
    '-->',
    '<?',
    ' ',
    '<a ',
    '<a>',
    '<a b="c" ',
    '&amp;',
    '</EntityDescriptor>',
    '<EntityDescriptor ',
    'encoding=',
    '>',
  ]
  for (const part of parts)
    for (const before of ['', '<?xml ', '<?xml version="1.0"?>', '<EntityDescriptor ']) {
      const text = (before + part.repeat(100_000 / part.length)).slice(0, 100_000)
      const started = performance.now()
      expect(faultOf(text)).toMatch(/^must /)
      expect(performance.now() - started).toBeLessThan(1000)
    }
})
