import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
const most = 25
const pages = {
  'docs/operations.md': read('docs/operations.md'),
  'docs/telemetry.md': read('docs/telemetry.md'),
  'docs/command.md': read('docs/command.md'),
  'docs/clients.md': read('docs/clients.md'),
  'docs/upgrading.md': read('docs/upgrading.md'),
  'CHANGELOG.md, section 0.3': read('CHANGELOG.md').split(/^## /m)[1]!,
}

test.each(Object.entries(pages))(`no sentence of %s has more than ${most} words`, (_, page) => {
  const sentences = sentencesOf(page)
  expect(sentences.length).toBeGreaterThan(20)
  expect(sentences.filter((sentence) => wordsOf(sentence).length > most)).toEqual([])
})

/** The sentences of the text. Tables, code and headings have none; what stands in `…` is one word. */
function sentencesOf(page: string): string[] {
  const blocks = page
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/^(\||#).*$/gm, '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(/^ *(-|\d+\.) +/gm, '\n')
    .split(/\n\s*\n/)
  const text = blocks
    .filter((block) => !/^\n* {4}/.test(block))
    .map((block) => block.replace(/`[^`]*`/g, 'code').replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*/g, '').trim()) // prettier-ignore
  return text.flatMap((block) => block.split(/(?<=[.!?]["')]?)\s+/)).filter(Boolean)
}

const wordsOf = (sentence: string) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
