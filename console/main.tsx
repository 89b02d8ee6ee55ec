import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { Router } from 'wouter-preact'
import { cache } from './api/queries.ts'
import { reloadOnce } from './shell/reload-once.ts'
import { base } from './address/place.ts'
import { Shell } from './shell/shell.tsx'
import './styles/styles.css'

reloadOnce()
render(
  <QueryClientProvider client={cache}>
    <Router base={base}>
      <Shell />
    </Router>
  </QueryClientProvider>,
  document.getElementById('app')!,
)
