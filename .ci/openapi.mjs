// Lints the OpenAPI document that the gateway serves, by the rules of .ci/openapi-rules.yaml. It asks no network.
import { fileURLToPath } from 'node:url'
import { formatProblems, getTotals, lintFromString, loadConfig } from '@redocly/openapi-core'
import { openApiDocument } from '../services/gateway/openapi/document.ts'

const config = await loadConfig({ configPath: fileURLToPath(new URL('openapi-rules.yaml', import.meta.url)) })
const source = JSON.stringify(openApiDocument('https://roster.example.com'), null, 2)
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
const totals = getTotals(problems)
formatProblems(problems, { format: 'codeframe', totals, version: '' })
process.exitCode = problems.length > 0 ? 1 : 0
