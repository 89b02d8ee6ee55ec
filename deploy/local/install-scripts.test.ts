import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('package.json says of every package with an install script whether npm may run it', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, { hasInstallScript?: boolean }> }
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
  const withScripts = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
    .map(([path]) => path.split('node_modules/').at(-1)!)
  expect(new Set(Object.keys(allowScripts))).toEqual(new Set(withScripts))
})

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
}
