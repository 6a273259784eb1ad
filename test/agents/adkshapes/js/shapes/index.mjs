import './plain.mjs';
import './containers.mjs';
import './transfers.mjs';
import './tools.mjs';
import './models.mjs';
import './failures.mjs';
import './callbacks.mjs';
import './waiting.mjs';
import './workflows.mjs';

export {SHAPES, built} from './registry.mjs';
