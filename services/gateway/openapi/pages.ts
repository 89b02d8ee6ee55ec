import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createPage, type Pages } from '../pages/pages.ts'
import { openApiDocument } from './document.ts'

/** The OpenAPI document at `/openapi.json`, and the viewer of it at `/docs`. All of it comes from this gateway. */
export function describeApi(publicUrl: string): Pages {
  const page = createPage('text/html; charset=utf-8', () => own('docs.html'), { policy, isolated: true })
  return new Map([
    ['/openapi.json', createPage('application/json', () => Buffer.from(JSON.stringify(openApiDocument(publicUrl))))],
    ['/docs', page],
    ['/docs/', page],
    ['/docs/docs.js', createPage('text/javascript; charset=utf-8', () => own('docs.js'))],
    ['/docs/docs.css', createPage('text/css; charset=utf-8', () => own('docs.css'))],
    ['/docs/swagger-ui.css', createPage('text/css; charset=utf-8', () => viewer('swagger-ui.css'))],
    ['/docs/swagger-ui-bundle.js', createPage('text/javascript; charset=utf-8', () => viewer('swagger-ui-bundle.js'))],
  ])
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const { resolve } = createRequire(import.meta.url)

function own(file: string): Buffer {
  return readFileSync(new URL(`viewer/${file}`, import.meta.url))
}

function viewer(file: string): Buffer {
  return readFileSync(resolve(`swagger-ui-dist/${file}`))
}
