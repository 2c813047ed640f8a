import { render } from 'preact'
import { App } from './app.tsx'
import { loadMe } from './session.tsx'
import './style.css'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void loadMe()
